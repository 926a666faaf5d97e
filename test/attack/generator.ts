/** The process that an attack runs in: told what to do by its parent, and gone when it is over. */
import type { AttackTarget } from "./attack-target.ts";
import { ATTACKS } from "./attacks.ts";

export type AttackOrder = { readonly name: string; readonly target: AttackTarget };

/** Connections that were cut end in errors that are no failure of the attack. */
process.on("uncaughtException", () => undefined);

process.once("message", (order: AttackOrder) => {
  const attack = ATTACKS[order.name];
  if (attack === undefined) process.exit(2);
  // Whatever an attack waits for, its process does not outlive its time.
  setTimeout(() => process.exit(0), order.target.endMs - Date.now() + 1_000);
  attack(order.target).then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
process.once("disconnect", () => process.exit(0));
