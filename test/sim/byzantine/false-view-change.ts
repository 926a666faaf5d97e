/** View changes that a Byzantine replica could sign: valid in form, false in content. */
import type { Prng } from "../../../src/base/prng.ts";
import type { Header } from "../../../src/consensus/block.ts";
import type { FinalCert } from "../../../src/consensus/certificate.ts";
import type { ViewChange } from "../../../src/consensus/message.ts";

type UnsignedViewChange = Omit<ViewChange, "signature">;

export function inventViewChange(
  truth: ViewChange,
  known: { readonly forks: readonly Header[]; readonly oldCerts: readonly FinalCert[] },
  prng: Prng,
): UnsignedViewChange {
  const { kind, epoch, sender, newView, finalCert } = truth;
  const bare = { kind, epoch, sender, newView, headersCert: [], headersVoted: [] };
  switch (prng.below(5)) {
    case 0: {
      const old = prng.pick(known.oldCerts);
      return { ...bare, finalCert: old, highCert: old, votedView: -1 };
    }
    case 1:
      return { ...bare, finalCert, highCert: finalCert, votedView: -1 };
    case 2: {
      const headersVoted = known.forks
        .filter(({ parent, height }) => {
          return parent === finalCert.blockHash && height === finalCert.height + 1;
        })
        .slice(-1);
      return { ...bare, finalCert, highCert: finalCert, votedView: newView - 1, headersVoted };
    }
    case 3:
      return {
        ...bare,
        finalCert,
        highCert: finalCert,
        votedView: Math.max(finalCert.view, newView - 1),
        headersVoted: truth.headersVoted.slice(0, prng.below(truth.headersVoted.length + 1)),
      };
    default:
      return { ...truth, votedView: newView - 1 };
  }
}
