import { bytesToHex } from "../../base/hex.ts";
import type { SimulatedBlock, SimulatedCall } from "../../api/simulation.ts";
import type { BlockRecord } from "../../api/chain-reader.ts";
import { formatBlock } from "./format-block.ts";
import { formatLogs } from "./format-log.ts";
import { formatTransaction } from "./format-transaction.ts";
import type { Dialect } from "../method.ts";
import type { JsonObject } from "../params/parameters.ts";
import { quantity } from "./quantity.ts";
import { callFailureToError } from "./failure-error.ts";
import { VM_EXECUTION_ERROR } from "../rpc-error.ts";

export function formatSimulatedBlock(
  { header, hash, size, transactions, calls }: SimulatedBlock,
  isFull: boolean,
  dialect: Dialect,
): JsonObject {
  const transactionHashes = transactions.map((one) => one.hash);
  const block: BlockRecord = { header, hash, size, transactionHashes };
  const shown = isFull
    ? transactions.map((one, index) => formatTransaction(one, { block, index }))
    : transactionHashes.map(bytesToHex);
  let logIndex = 0;
  const results = calls.map((call, transactionIndex) => {
    const transactionHash = transactionHashes[transactionIndex] ?? new Uint8Array(0);
    const place = { block, transactionIndex, transactionHash, logIndex };
    logIndex += call.logs.length;
    return {
      status: call.status === "success" ? "0x1" : "0x0",
      returnData: bytesToHex(call.output),
      gasUsed: quantity(call.gasUsed),
      maxUsedGas: quantity(call.gasUsedMax),
      logs: formatLogs(call.logs, place),
      ...formatFailure(call),
    };
  });
  return { ...formatBlock(block, shown, dialect), calls: results };
}

function formatFailure({ status, output, reason }: SimulatedCall): JsonObject {
  switch (status) {
    case "success":
      return {};
    case "revert": {
      const { code, message, data } = callFailureToError({ kind: "reverted", output });
      return { error: { code, message, data } };
    }
    case "failure": {
      const words = (reason ?? "failed").toLowerCase().replaceAll("_", " ");
      return { error: { code: VM_EXECUTION_ERROR, message: `vm execution error: ${words}` } };
    }
  }
}
