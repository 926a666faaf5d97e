// Deploys the project and tests it; `hardhat run` ends with the outcome of the tests.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { network } from "hardhat";
import { keccak256, parseSignature, stringToBytes } from "viem";

const { viem } = await network.create();
const client = await viem.getPublicClient({ pollingInterval: 20 });
const [admin, issuer, holder] = await viem.getWalletClients();
const token = await viem.deployContract("ShareToken", [admin.account.address]);
const vault = await viem.deployContract("ShareVault", [token.address]);
const ISSUER = keccak256(stringToBytes("ISSUER"));

const done = async (hash) => {
  const receipt = await client.waitForTransactionReceipt({ hash });
  assert.equal(receipt.status, "success");
};

await describe("shares", () => {
  it("only an issuer issues", async () => {
    const asIssuer = { account: issuer.account };
    await assert.rejects(
      token.write.issue([holder.account.address, 5n], asIssuer),
      /AccessControlUnauthorizedAccount/,
    );
    await done(await token.write.grantRole([ISSUER, issuer.account.address]));
    await done(await token.write.issue([holder.account.address, 1_000n], asIssuer));
    assert.equal(await token.read.balanceOf([holder.account.address]), 1_000n);
    const granted = await token.getEvents.RoleGranted({}, { fromBlock: 0n });
    assert.deepEqual(
      granted.map(({ args }) => args.account.toLowerCase()),
      [admin, issuer].map(({ account }) => account.address.toLowerCase()),
    );
  });

  it("a signature approves, and the vault takes the shares", async () => {
    const message = {
      owner: holder.account.address,
      spender: vault.address,
      value: 400n,
      nonce: await token.read.nonces([holder.account.address]),
      deadline: 2n ** 64n,
    };
    const signature = await holder.signTypedData({
      domain: {
        name: "Share",
        version: "1",
        chainId: await client.getChainId(),
        verifyingContract: token.address,
      },
      types: {
        Permit: ["owner:address", "spender:address", "value:uint256"]
          .concat("nonce:uint256", "deadline:uint256")
          .map((field) => ({ name: field.split(":")[0], type: field.split(":")[1] })),
      },
      primaryType: "Permit",
      message,
    });
    const { r, s, v } = parseSignature(signature);
    const { owner, spender, value, deadline } = message;
    // Anyone may hand the signature in.
    await done(await token.write.permit([owner, spender, value, deadline, Number(v), r, s]));
    const asHolder = { account: holder.account };
    await done(await vault.write.deposit([400n, owner], asHolder));
    assert.equal(await vault.read.convertToAssets([await vault.read.balanceOf([owner])]), 400n);
  });

  it("nothing moves while paused", async () => {
    await done(await token.write.pause());
    const move = token.write.transfer([admin.account.address, 1n], { account: holder.account });
    await assert.rejects(move, /EnforcedPause/);
  });
});
