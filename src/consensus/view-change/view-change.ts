/** What a ViewChange says, when it is valid, and what the choice takes from it (PROTOCOL §6.2). */
import { chainLinkOf, type BlockRef, type Hash, type Header } from "../block.ts";
import { certifiedRef, compareCerts, viewInEpoch, type Certificate } from "../certificate.ts";
import type { Report } from "../safety/base-selection.ts";
import { signed, type Core } from "../core.ts";
import type { ViewChange } from "../message.ts";

/** Reports everything appended to the log so far; sent once that is durable. */
export function buildViewChange(core: Core): ViewChange {
  const { epoch, self: sender, view: newView, final } = core;
  const headersVoted = core.votedTip === undefined ? [] : headersTo(core, core.votedTip.hash);
  // Below or beside the final block there is nothing left to report of the certificate.
  const certHeaders = headersTo(core, core.highCert.blockHash);
  const isReportable =
    core.highCert.blockHash === final.link.hash || certHeaders.length > 0
      ? compareCerts(core.highCert, final.certificate) > 0
      : false;
  const highCert = isReportable ? core.highCert : final.certificate;
  const isPrefix = headersVoted.some((header) => hashOf(core, header) === highCert.blockHash);
  return signed(core, {
    kind: "viewChange",
    epoch,
    sender,
    newView,
    finalCert: final.certificate,
    highCert,
    votedView: core.votedView,
    headersVoted,
    headersCert: isPrefix || !isReportable ? [] : certHeaders,
  });
}

/**
 * Our ViewChange for the current view, to retransmit. Undefined after we voted or learned a
 * certificate in the view: what we would report is no longer below it, and a replica that is behind
 * enters by the NewView or by a certificate.
 */
export function repeatViewChange(core: Core): ViewChange | undefined {
  if (core.view === 0 || core.votedView >= core.view) return undefined;
  const isBelow = [core.highCert, core.final.certificate].every(
    (certificate) => viewInEpoch(certificate, core.epoch) < core.view,
  );
  return isBelow ? buildViewChange(core) : undefined;
}

function headersTo(core: Core, hash: Hash): readonly Header[] {
  return (core.tree.pathTo(hash) ?? []).map((held) => held.block.header);
}

function hashOf(core: Core, header: Header): Hash {
  return core.ports.hashHeader(header);
}

/** The report of a valid ViewChange of our epoch; undefined when it contradicts itself. */
export function reportOf(core: Core, message: ViewChange): Report | undefined {
  const { newView, finalCert, highCert, votedView, headersVoted, headersCert } = message;
  if (message.epoch !== core.epoch || newView < 1 || votedView < -1 || votedView >= newView) {
    return undefined;
  }
  if (!isCertificateTimely(core, finalCert, newView)) return undefined;
  if (!isCertificateTimely(core, highCert, newView)) return undefined;
  if (compareCerts(highCert, finalCert) < 0) return undefined;
  if (votedView === -1 && headersVoted.length > 0) return undefined;
  const final = certifiedRef(finalCert);
  const votedChain = chainOn(core, final, headersVoted);
  const extraChain = chainOn(core, final, headersCert);
  if (votedChain === undefined || extraChain === undefined) return undefined;
  const certifiedChain = chainToCertificate(highCert, final, votedChain, extraChain);
  if (certifiedChain === undefined) return undefined;
  return {
    final: { view: viewInEpoch(finalCert, core.epoch), block: final },
    certified: { view: viewInEpoch(highCert, core.epoch), block: certifiedRef(highCert) },
    certifiedChain,
    votedView,
    votedChain,
  };
}

/** A certificate of this epoch is below the new view; an older one is that of the boundary. */
function isCertificateTimely(core: Core, certificate: Certificate, newView: number): boolean {
  if (certificate.epoch === core.epoch && certificate.kind !== "genesis") {
    return certificate.view < newView;
  }
  return certificate.blockHash === core.boundary.link.hash && certificate.kind !== "quorum";
}

/** The headers as a chain that stands on `start`, at most 2W long. */
function chainOn(
  core: Core,
  start: BlockRef,
  headers: readonly Header[],
): readonly BlockRef[] | undefined {
  if (headers.length > 2 * core.parameters.window) return undefined;
  const chain: BlockRef[] = [];
  let below = start;
  for (const header of headers) {
    if (header.epoch !== core.epoch || header.parent !== below.hash) return undefined;
    if (header.height !== below.height + 1) return undefined;
    const { height, hash } = chainLinkOf(header, core.ports.hashHeader);
    below = { height, hash };
    chain.push(below);
  }
  return chain;
}

function chainToCertificate(
  highCert: Certificate,
  final: BlockRef,
  votedChain: readonly BlockRef[],
  extraChain: readonly BlockRef[],
): readonly BlockRef[] | undefined {
  if (highCert.blockHash === final.hash) return extraChain.length === 0 ? [] : undefined;
  if (extraChain.length > 0) {
    return extraChain.at(-1)?.hash === highCert.blockHash ? extraChain : undefined;
  }
  const index = votedChain.findIndex(({ hash }) => hash === highCert.blockHash);
  return index === -1 ? undefined : votedChain.slice(0, index + 1);
}
