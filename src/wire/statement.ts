/**
 * The bytes that replicas sign: 0xC2 ‖ version ‖ network ‖ epoch ‖ type ‖ fields. The prefix makes
 * a signature worthless in any other network, epoch or role; every type has its own fixed width, so
 * no two statements share their bytes. The sender is not among them: the key says who signed, and
 * so all Votes of a certificate sign the same bytes.
 *
 * A ViewChange and a NewView sign the SHA-256 of their content, which keeps what is signed short.
 */
import { invariant, unreachable } from "../base/invariant.ts";
import { sha256 } from "../crypto/sha256.ts";
import type { RejoinStatement, Statement } from "../consensus/message.ts";
import { HASH_SIZE } from "../crypto/keccak256.ts";
import {
  writeBlockClaimContent,
  writeComplaintContent,
  writeExecVoteContent,
  writeNewViewContent,
  writeViewChangeContent,
} from "./signed-codec.ts";
import { Writer } from "./writer.ts";

/** Separates these statements from anything else that a replica's Ed25519 key may sign. */
const STATEMENT_DOMAIN = 0xc2;
const STATEMENT_VERSION = 1;

/** Part of the format: a value that was used is never used for another kind. */
const STATEMENT_TYPES = {
  proposeClaim: 1,
  vote: 2,
  commit: 3,
  abdicate: 4,
  complaint: 5,
  viewChange: 6,
  newView: 7,
  execVote: 8,
  rejoin: 9,
} as const satisfies Readonly<Record<(Statement | RejoinStatement)["kind"], number>>;

/** A statement without its sender, who is known by the key. */
export type Signable = WithoutSender<Statement | RejoinStatement>;
type WithoutSender<Kind> = Kind extends unknown ? Omit<Kind, "sender"> : never;

const writer = new Writer();
const contentWriter = new Writer();

/** What the signer of the statement signs in the network `net`. */
export function encodeStatement(net: Uint8Array, statement: Signable): Uint8Array {
  invariant(net.length === HASH_SIZE, "a network is named by a hash of 32 bytes");
  writer.reset();
  writer.uint8(STATEMENT_DOMAIN);
  writer.uint8(STATEMENT_VERSION);
  writer.bytes(net);
  writer.uint32(statement.epoch);
  writer.uint8(STATEMENT_TYPES[statement.kind]);
  writeFields(statement);
  return writer.take();
}

function writeFields(statement: Signable): void {
  switch (statement.kind) {
    case "proposeClaim":
    case "vote":
    case "commit":
      writeBlockClaimContent(writer, statement);
      return;
    case "abdicate":
      writer.uint64(statement.view);
      return;
    case "complaint":
      writeComplaintContent(writer, statement);
      return;
    case "viewChange":
      contentWriter.reset();
      writeViewChangeContent(contentWriter, statement);
      writer.bytes(sha256(contentWriter.peek()));
      return;
    case "newView":
      contentWriter.reset();
      writeNewViewContent(contentWriter, statement);
      writer.bytes(sha256(contentWriter.peek()));
      return;
    case "execVote":
      writeExecVoteContent(writer, statement);
      return;
    case "rejoin":
      writer.replica(statement.member);
      writer.hash(statement.nonce);
      return;
    default:
      unreachable(statement);
  }
}
