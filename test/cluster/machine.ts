/** Where the cluster of the acceptance run lives on this machine. */
import { homedir } from "node:os";
import path from "node:path";

export const ROOT = path.join(import.meta.dirname, "../..");

/** Programs and images that are dear to make are kept between runs. */
export const CACHE =
  process.env["QUORATE_CLUSTER_CACHE"] ?? path.join(homedir(), ".cache/quorate-cluster");

export const PROGRAMS = path.join(CACHE, "bin");

/** What one run makes, and takes away again. */
export const RUN = path.join(CACHE, "run");
export const LOGS = path.join(CACHE, "logs");

/** Sockets must have short paths. */
export const SOCKETS = "/run/quorate-cluster";

/**
 * Everything of the cluster is in a network namespace of its own: its addresses, bridges and packet
 * filters touch nothing of the machine, and go away with it.
 */
export const NAMESPACE = "quorate-cluster";
export const NODE_ADDRESS = "10.99.0.1";
export const SERVICE_RANGE = "10.96.0.0/16";
export const POD_RANGE = "10.244.0.0/24";
export const DNS_ADDRESS = "10.96.0.10";
export const DNS_PORT = 10_053;
export const API_PORT = 6443;
export const REGISTRY = `${NODE_ADDRESS}:5000`;
export const KUBECONFIG = path.join(RUN, "admin.conf");

/** The image of the acceptance run, before it is in a registry. */
export const IMAGE = "quorate:acceptance";
export const IMAGE_ARCHIVE = path.join(CACHE, "quorate-image.tar");

/** Of the chart, which names the image by it. */
export const VERSION = "0.1.0";
