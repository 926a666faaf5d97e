/**
 * The newest Vote and Commit of each replica, kept when finality and views have emptied every other
 * buffer: this shows a replica with a rolled-back log that it forgot something (PROTOCOL §9.1).
 */
import type { Ballot } from "../agreement/ballots.ts";
import type { ReplicaIndex } from "../block.ts";
import type { Certificate } from "../certificate.ts";
import type { Commit, Vote } from "../message.ts";

export type Testimony = { readonly vote: Vote | undefined; readonly commit: Commit | undefined };

export class Witness {
  readonly #votes = new Map<ReplicaIndex, Vote>();
  readonly #commits = new Map<ReplicaIndex, Commit>();

  note(ballot: Ballot): void {
    if (ballot.kind === "vote") keepNewest(this.#votes, ballot);
    else keepNewest(this.#commits, ballot);
  }

  /** The votes and commits inside certificates; after a restart no others are left. */
  noteCertificate(certificate: Certificate): void {
    if (certificate.kind === "genesis") return;
    const { epoch, view } = certificate;
    if (certificate.kind === "slow") {
      for (const { sender, signature, height, hash } of certificate.commits) {
        this.note({ kind: "commit", epoch, view, sender, signature, height, blockHash: hash });
      }
      return;
    }
    const { height, blockHash } = certificate;
    for (const { sender, signature } of certificate.votes) {
      this.note({ kind: "vote", epoch, view, sender, signature, height, blockHash });
    }
  }

  of(sender: ReplicaIndex): Testimony {
    return { vote: this.#votes.get(sender), commit: this.#commits.get(sender) };
  }
}

function keepNewest<Kind extends Ballot>(newest: Map<ReplicaIndex, Kind>, ballot: Kind): void {
  const known = newest.get(ballot.sender);
  if (known === undefined || isNewer(ballot, known)) newest.set(ballot.sender, ballot);
}

function isNewer(a: Ballot, b: Ballot): boolean {
  if (a.epoch !== b.epoch) return a.epoch > b.epoch;
  return a.view !== b.view ? a.view > b.view : a.height > b.height;
}
