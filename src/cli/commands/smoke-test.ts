/** `quorate smoke-test`: what `helm test` runs, against any network. */
import { CodedError } from "../../base/coded-error.ts";
import { parseHex } from "../../base/hex.ts";
import { usageError, type Command } from "../command.ts";
import { readText } from "../../node/load-config.ts";
import { shownPath } from "../../node/shown-path.ts";
import { createSignedInCaller } from "../permit/signed-in-caller.ts";
import { runSmokeTest } from "../smoke-test/run-smoke-test.ts";

const DEFAULT_URL = "http://127.0.0.1:8545";
const RECEIPT_TIMEOUT_MS = 30_000;
const PRIVATE_KEY_SIZE = 32;

export const smokeTest: Command = {
  name: "smoke-test",
  summary: "check a network: its genesis block, then a token that is deployed and transferred",
  options: [
    { name: "url", value: "URL", summary: `where ethrpc is (${DEFAULT_URL})` },
    { name: "key", value: "FILE", summary: "the key of a permitted account, as 0x-hex" },
  ],
  async run({ texts: { url = DEFAULT_URL, key } }, { terminal }) {
    if (!URL.canParse(url)) throw usageError(`"${url}" is no URL`, "smoke-test");
    const options = {
      privateKey: key === undefined ? undefined : loadPrivateKey(key),
      receiptTimeoutMs: RECEIPT_TIMEOUT_MS,
    };
    const report = (step: string): void => terminal.result(`ok  ${step}`);
    await runSmokeTest(createSignedInCaller(url, options.privateKey), options, report);
    return 0;
  },
};

function loadPrivateKey(file: string): Uint8Array {
  const bytes = parseHex(readText(file).trim());
  if (bytes?.length === PRIVATE_KEY_SIZE) return bytes;
  const reason = "it holds no private key of 32 bytes in 0x-hex";
  throw new CodedError("KEY_UNREADABLE", { path: shownPath(file), reason });
}
