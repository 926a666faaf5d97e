import type { IncomingMessage } from "node:http";
import type { ByteBudget } from "./byte-budget.ts";

export type BodyOutcome =
  | { readonly kind: "body"; readonly bytes: Uint8Array }
  /** More than one request may have, or more than there is room for now. */
  | { readonly kind: "tooLarge" }
  | { readonly kind: "noRoom" }
  /** The client went away or was too slow. */
  | { readonly kind: "aborted" };

/** Reads the body within `bytesMax`. Its bytes are taken from the budget; the caller gives them back. */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
  budget: ByteBudget,
): Promise<BodyOutcome> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve) => {
    const end = (outcome: BodyOutcome): void => {
      request.removeAllListeners("data");
      if (outcome.kind !== "body") {
        budget.release(size);
        size = 0;
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
    request.once("end", () => end({ kind: "body", bytes: Buffer.concat(chunks) }));
    request.once("error", () => end({ kind: "aborted" }));
    request.once("close", () => end({ kind: "aborted" }));
  });
}
