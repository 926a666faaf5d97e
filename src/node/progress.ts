/** Why a network orders nothing, in words; undefined while nothing keeps it from doing so. */

export type ReplicaView = {
  readonly replica: number;
  readonly isUp: boolean;
  /** What the replica reports; undefined before its first answer. */
  readonly mode: string | undefined;
  readonly isDiskFull: boolean;
};

export function progressProblem(
  replicas: readonly ReplicaView[],
  quorum: number,
): string | undefined {
  const up = replicas.filter(({ isUp }) => isUp);
  const total = replicas.length;
  if (up.length < quorum) {
    return `no progress: ${count(up.length)} of ${total} replicas ${areUp(up.length)} up, ${quorum} are needed`;
  }
  const active = up.filter(({ mode }) => mode === undefined || mode === "active");
  if (active.length < quorum) {
    const others = up
      .filter((view) => !active.includes(view))
      .map(({ replica, mode }) => `replica-${replica} is ${WORDS[mode ?? ""] ?? String(mode)}`);
    return (
      `no progress: ${count(active.length)} of ${total} replicas take part, ` +
      `${quorum} are needed; ${others.join(", ")}`
    );
  }
  const withRoom = active.filter(({ isDiskFull }) => !isDiskFull);
  if (withRoom.length < quorum) {
    const full = active.filter(({ isDiskFull }) => isDiskFull);
    const names = full.map(({ replica }) => `replica-${replica}`).join(", ");
    return `no progress: the disk of ${names} is full; free some space`;
  }
  return undefined;
}

const WORDS: Readonly<Record<string, string>> = {
  probing: "asking the others where they are",
  observer: "waiting to be let in again",
  diverged: "stopped because its results differ from the others'",
  stopped: "stopped",
};

function count(value: number): string {
  return value === 0 ? "none" : String(value);
}

function areUp(value: number): string {
  return value === 1 ? "is" : "are";
}
