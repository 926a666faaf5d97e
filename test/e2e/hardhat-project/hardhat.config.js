// A user's project. What is particular to a test stands in variables: where the network is, and
// where output goes.
import { createRequire } from "node:module";
import path from "node:path";
import hardhatViem from "@nomicfoundation/hardhat-viem";
import { defineConfig } from "hardhat/config";

const output = process.env.PROJECT_OUTPUT ?? "output";

export default defineConfig({
  plugins: [hardhatViem],
  solidity: {
    version: "0.8.30",
    // The compiler from npm: nothing is downloaded.
    path: createRequire(import.meta.url).resolve("solc/soljson.js"),
    settings: { evmVersion: "prague", optimizer: { enabled: true } },
  },
  paths: { artifacts: path.join(output, "artifacts"), cache: path.join(output, "cache") },
  networks: {
    quorate: {
      type: "http",
      url: process.env.PROJECT_RPC_URL ?? "http://localhost:8545",
      accounts: (process.env.PROJECT_KEYS ?? "").split(",").filter((key) => key !== ""),
    },
  },
});
