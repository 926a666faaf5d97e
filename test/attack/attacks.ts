import type { Attack } from "./attack-target.ts";
import { CONNECTION_ATTACKS } from "./connection-attacks.ts";
import { READ_ATTACKS } from "./read-attacks.ts";
import { TRANSACTION_ATTACKS } from "./transaction-attacks.ts";

/** All that `npm run attack` knows, by name. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  ...TRANSACTION_ATTACKS,
  ...READ_ATTACKS,
  ...CONNECTION_ATTACKS,
};
