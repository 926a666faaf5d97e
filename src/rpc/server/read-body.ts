import type { IncomingMessage } from "node:http";
import type { BudgetShare } from "./byte-budget.ts";

export type BodyOutcome =
  | { readonly kind: "body"; readonly bytes: Uint8Array }
  /** More than one request may have, or more than there is room for now. */
  | { readonly kind: "tooLarge" }
  | { readonly kind: "noRoom" }
  /** The client went away or was too slow. */
  | { readonly kind: "aborted" };

/** Reads at most `bytesMax`. The bytes are taken from the budget; the caller gives them back. */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
  budget: BudgetShare,
): Promise<BodyOutcome> {
  const chunks: Buffer[] = [];
  let size = 0;
  let isOver = false;
  return new Promise((resolve) => {
    const end = (outcome: BodyOutcome): void => {
      // A request that ended is closed after that, too.
      if (isOver) return;
      isOver = true;
      if (outcome.kind !== "body") {
        request.removeAllListeners("data");
        budget.release(size);
      }
      resolve(outcome);
    };
    if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
      end({ kind: "tooLarge" });
      return;
    }
    request.on("data", (chunk: Buffer) => {
      if (size + chunk.length > bytesMax) {
        end({ kind: "tooLarge" });
      } else if (budget.reserve(chunk.length)) {
        size += chunk.length;
        chunks.push(chunk);
      } else {
        end({ kind: "noRoom" });
      }
    });
    request.on("end", () => {
      const [first] = chunks;
      const bytes = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
      end({ kind: "body", bytes });
    });
    request.on("error", () => end({ kind: "aborted" }));
    request.on("close", () => end({ kind: "aborted" }));
  });
}
