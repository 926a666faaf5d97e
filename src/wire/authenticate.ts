/**
 * Between the decoder and the core: every signature in a message is verified, nested ones included,
 * and what is named by a hash is compared with that hash. The core trusts what passes here.
 *
 * Three design choices:
 * - A signed message may come over any link (it is relayed); an unsigned one speaks for the link's
 *   own peer, so there is nothing to check but that the peer is a member.
 * - A Propose whose header or body does not fit its hash still passes when the leader's signature
 *   on the claim is valid: the core needs it to accuse the leader (PROPOSAL_HASH_MISMATCH). A
 *   Rejoin in its body must verify all the same; the core has no other way to know.
 * - Whether two messages really contradict each other, links fit, or a view change is consistent is
 *   not checked here: the core decides that from contents alone.
 *
 * The sender's own signature comes first: only a member's key can make us do the further work.
 */
import { unreachable } from "../base/invariant.ts";
import { err, ok, type Result } from "../base/result.ts";
import { verify as verifyEd25519 } from "../crypto/ed25519.ts";
import {
  bodySize,
  type Block,
  type Body,
  type Hash,
  type Header,
  type Rejoin,
  type ReplicaIndex,
} from "../consensus/block.ts";
import {
  checkCertificate,
  type Certificate,
  type CertificateFault,
  type Endorsement,
} from "../consensus/certificate.ts";
import type {
  Evidence,
  Message,
  NewView,
  ProbeAnswer,
  Propose,
  ViewChange,
} from "../consensus/message.ts";
import { quorumOf, type Quorum } from "../consensus/quorum.ts";
import { createHeaderHasher, hashBody } from "./ports.ts";
import { encodeStatement, type Signable } from "./statement.ts";
import { VerifiedSignatures } from "./verified-signatures.ts";

export const AUTHENTICATION_CODES = [
  "AUTH_LINK_UNKNOWN",
  "AUTH_SENDER_UNKNOWN",
  "AUTH_SIGNATURE_INVALID",
  "AUTH_BLOCK_HASH_MISMATCH",
  "AUTH_BODY_MISMATCH",
  "AUTH_VIEW_CHANGES_TOO_MANY",
] as const;
export type AuthenticationCode = (typeof AUTHENTICATION_CODES)[number] | CertificateFault;
export type AuthenticationError = { readonly code: AuthenticationCode };

/** Whether the replica's key made the signature. Must not keep `bytes`. */
export type VerifySignature = (
  sender: ReplicaIndex,
  bytes: Uint8Array,
  signature: Uint8Array,
) => boolean;

export type PeerMessageAuthenticatorOptions = {
  readonly net: Uint8Array;
  readonly replicaCount: number;
  readonly genesis: Header;
  /** W of the network: a slow certificate has at most 2W links. */
  readonly window: number;
  /** How many verified signatures are remembered at least, once so many were seen. */
  readonly rememberedMax?: number;
};

export type PeerMessageAuthenticator = {
  /** The message itself, when all that is signed in it is signed by whom it says. */
  authenticate(message: Message, from: ReplicaIndex): Result<Message, AuthenticationError>;
};

const REMEMBERED_MAX = 4_096;

export function createPeerMessageAuthenticator(
  options: PeerMessageAuthenticatorOptions,
  dependencies: { readonly verify: VerifySignature },
): PeerMessageAuthenticator {
  return new MessageAuthenticator(options, dependencies);
}

/** Ed25519 by the members' keys, in the order of their indices. */
export function createKeyVerifier(publicKeys: readonly Uint8Array[]): VerifySignature {
  return (sender, bytes, signature) => {
    const publicKey = publicKeys[sender];
    return publicKey !== undefined && verifyEd25519(publicKey, bytes, signature);
  };
}

type Fault = AuthenticationCode | undefined;

class MessageAuthenticator implements PeerMessageAuthenticator {
  readonly #net: Uint8Array;
  readonly #verify: VerifySignature;
  readonly #verified: VerifiedSignatures;
  readonly #certificateContext: {
    readonly quorum: Quorum;
    readonly genesisHash: Hash;
    readonly windowMax: number;
    readonly hashHeader: (header: Header) => Hash;
  };

  constructor(
    options: PeerMessageAuthenticatorOptions,
    dependencies: { readonly verify: VerifySignature },
  ) {
    const hashHeader = createHeaderHasher(options.net);
    this.#net = options.net;
    this.#verify = dependencies.verify;
    this.#verified = new VerifiedSignatures(options.rememberedMax ?? REMEMBERED_MAX);
    this.#certificateContext = {
      quorum: quorumOf(options.replicaCount),
      genesisHash: hashHeader(options.genesis),
      windowMax: 2 * options.window,
      hashHeader,
    };
  }

  authenticate(message: Message, from: ReplicaIndex): Result<Message, AuthenticationError> {
    const code = this.#isMember(from) ? this.#check(message) : "AUTH_LINK_UNKNOWN";
    return code === undefined ? ok(message) : err({ code });
  }

  #check(message: Message): Fault {
    switch (message.kind) {
      case "propose":
        return this.#checkPropose(message);
      case "vote":
      case "commit":
      case "abdicate":
      case "complaint":
      case "execVote":
        return this.#checkSignature(message.sender, message, message.signature);
      case "viewChange":
        return this.#checkViewChange(message);
      case "newView":
        return this.#checkNewView(message);
      case "evidence":
        return this.#checkEvidence(message);
      case "finality":
        return this.#checkCertificate(message.certificate);
      case "bodyResponse":
        return this.#checkBlocks(message.blocks);
      case "blockResponse":
        return this.#checkCertificate(message.certificate) ?? this.#checkBlocks(message.blocks);
      case "forwardRejoin":
        return this.#checkRejoin(message.rejoin);
      case "probeAnswer":
        return this.#checkProbeAnswer(message);
      case "status":
      case "bodyRequest":
      case "blockRequest":
      case "newViewRequest":
      case "forward":
      case "probe":
        return undefined;
      default:
        return unreachable(message);
    }
  }

  #checkPropose(propose: Propose): Fault {
    const { epoch, view, header, blockHash } = propose;
    const claim = { kind: "proposeClaim", epoch, view, height: header.height, blockHash } as const;
    return (
      this.#checkSignature(propose.sender, claim, propose.signature) ??
      this.#checkBodyRejoin(propose.body)
    );
  }

  #checkViewChange(change: ViewChange): Fault {
    return (
      this.#checkSignature(change.sender, change, change.signature) ??
      this.#checkCertificate(change.finalCert) ??
      this.#checkCertificate(change.highCert)
    );
  }

  #checkNewView(newView: NewView): Fault {
    if (newView.viewChanges.length > this.#certificateContext.quorum.replicaCount) {
      return "AUTH_VIEW_CHANGES_TOO_MANY";
    }
    const fault = this.#checkSignature(newView.sender, newView, newView.signature);
    if (fault !== undefined) return fault;
    return firstFault(newView.viewChanges, (change) => this.#checkViewChange(change));
  }

  #checkEvidence({ first, second }: Evidence): Fault {
    return (
      this.#checkSignature(first.sender, first, first.signature) ??
      this.#checkSignature(second.sender, second, second.signature)
    );
  }

  #checkProbeAnswer({ vote, commit, viewChange }: ProbeAnswer): Fault {
    return (
      (vote === undefined ? undefined : this.#checkSignature(vote.sender, vote, vote.signature)) ??
      (commit === undefined
        ? undefined
        : this.#checkSignature(commit.sender, commit, commit.signature)) ??
      (viewChange === undefined ? undefined : this.#checkViewChange(viewChange))
    );
  }

  #checkCertificate(certificate: Certificate): Fault {
    const fault = checkCertificate(certificate, this.#certificateContext);
    if (fault !== undefined) return fault;
    const { epoch, view, height, blockHash } = certificate;
    switch (certificate.kind) {
      case "genesis":
        return undefined;
      case "quorum":
      case "fast": {
        const vote = encodeStatement(this.#net, { kind: "vote", epoch, view, height, blockHash });
        return firstFault(certificate.votes, (endorsement) => this.#checkBytes(endorsement, vote));
      }
      case "slow":
        return firstFault(certificate.commits, (commit) => {
          const named = { height: commit.height, blockHash: commit.hash };
          const statement = { kind: "commit", epoch, view, ...named } as const;
          return this.#checkBytes(commit, encodeStatement(this.#net, statement));
        });
      default:
        return unreachable(certificate);
    }
  }

  #checkBlocks(blocks: readonly Block[]): Fault {
    return firstFault(blocks, (block) => this.#checkBlock(block));
  }

  #checkBlock({ hash, header, body }: Block): Fault {
    if (this.#certificateContext.hashHeader(header) !== hash) return "AUTH_BLOCK_HASH_MISMATCH";
    const isBodyOfHeader =
      header.txCount === body.transactions.length &&
      header.payloadSize === bodySize(body) &&
      header.payloadHash === hashBody(body);
    return isBodyOfHeader ? this.#checkBodyRejoin(body) : "AUTH_BODY_MISMATCH";
  }

  #checkBodyRejoin({ rejoin }: Body): Fault {
    return rejoin === undefined ? undefined : this.#checkRejoin(rejoin);
  }

  #checkRejoin(rejoin: Rejoin): Fault {
    return this.#checkSignature(rejoin.member, rejoin, rejoin.signature);
  }

  #checkSignature(sender: ReplicaIndex, statement: Signable, signature: Uint8Array): Fault {
    if (!this.#isMember(sender)) return "AUTH_SENDER_UNKNOWN";
    return this.#checkBytes({ sender, signature }, encodeStatement(this.#net, statement));
  }

  /** The sender is a member: the caller, or the certificate's own check, has made sure. */
  #checkBytes({ sender, signature }: Endorsement, bytes: Uint8Array): Fault {
    if (this.#verified.has(sender, bytes, signature)) return undefined;
    if (!this.#verify(sender, bytes, signature)) return "AUTH_SIGNATURE_INVALID";
    this.#verified.add(sender, bytes, signature);
    return undefined;
  }

  #isMember(index: ReplicaIndex): boolean {
    return (
      Number.isInteger(index) && index >= 0 && index < this.#certificateContext.quorum.replicaCount
    );
  }
}

function firstFault<Item>(items: readonly Item[], check: (item: Item) => Fault): Fault {
  for (const item of items) {
    const fault = check(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
