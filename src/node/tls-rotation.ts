/** Certificates are replaced while a node runs, by the operator's tool or by the cluster. */
import type { Logger } from "../base/logger.ts";
import type { ClientConfig } from "../config/node-settings.ts";
import type { RpcTlsOptions } from "../rpc/rpc-options.ts";
import { errorText } from "./error-line.ts";
import { readTls } from "./rpc-security.ts";

export type TlsRotationDependencies = {
  /** Throws if the files cannot be used. */
  readonly replace: (tls: RpcTlsOptions) => void;
  readonly logger: Logger;
};

const CHECK_MS = 10_000;

/**
 * The files are polled: not every file system reports changes, and a cluster swaps a whole folder.
 * Files that do not match, for example when only one of them has been replaced yet, change nothing.
 */
export class TlsRotation {
  readonly #config: ClientConfig;
  readonly #dependencies: TlsRotationDependencies;
  #used: RpcTlsOptions;
  #problem = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(config: ClientConfig, used: RpcTlsOptions, dependencies: TlsRotationDependencies) {
    this.#config = config;
    this.#used = used;
    this.#dependencies = dependencies;
  }

  start(checkMs = CHECK_MS): void {
    this.#timer = setInterval(() => this.check(), checkMs);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  check(): void {
    const { replace, logger } = this.#dependencies;
    try {
      const tls = readTls(this.#config);
      if (tls === undefined || isSame(tls, this.#used)) return;
      replace(tls);
      this.#used = tls;
      this.#problem = "";
      logger.info("the certificate of ethrpc was replaced", {});
    } catch (error) {
      const problem = errorText(error);
      // Logged once for each problem, which may last for long.
      if (problem !== this.#problem) logger.warn("new TLS files cannot be used", { problem });
      this.#problem = problem;
    }
  }
}

function isSame(a: RpcTlsOptions, b: RpcTlsOptions): boolean {
  return a.cert === b.cert && a.key === b.key && a.clientCa === b.clientCa;
}
