/** A leader gives its view up: the others go on to the next one at once (PROTOCOL §6.1 g). */
import { leader, sendNow, signed, type Core } from "../core.ts";

export function stepDown(core: Core): void {
  if (leader(core) !== core.self) return;
  const { epoch, self: sender, view } = core;
  core.mayLead = false;
  core.views.abdicate = signed(core, { kind: "abdicate", epoch, sender, view });
  sendNow(core, "all", core.views.abdicate);
}
