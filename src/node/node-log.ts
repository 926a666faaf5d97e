/** Where the log lines of a node go: to its standard output and to the log endpoints, if any. */
import path from "node:path";
import type { Logger } from "../base/logger.ts";
import { logEndpointsOf, type LogEndpointConfig } from "../config/log-settings.ts";
import type { LogLevel } from "../logging/log-entry.ts";
import { LogThreshold } from "../logging/log-threshold.ts";
import { logFormatOf, LogWriter, type LogFormat } from "../logging/log-writer.ts";
import { Shipper } from "../logging/shipper.ts";
import { NodeMetrics } from "../metrics/node-metrics.ts";
import { programVersion } from "./program-version.ts";

export type NodeLogConfig = LogEndpointConfig & {
  readonly data: string;
  readonly "log.level": LogLevel;
  readonly "log.format": LogFormat | "auto";
};

/** Lines that cannot be sent in this time when a node stops are sent after its next start. */
const CLOSE_WITHIN_MS = 1_000;
/**
 * A signal, because only the node's own user can send one: no server of a node changes settings for
 * a caller.
 */
const TOGGLE_SIGNAL = "SIGUSR2";

export class NodeLog {
  readonly writer: LogWriter;
  readonly threshold: LogThreshold;
  readonly #shipper: Shipper | undefined;
  readonly #dataPath: string;
  #logger: Logger | undefined;

  /** Throws LOG_ENDPOINT_INVALID. */
  constructor(config: NodeLogConfig, isTerminal: boolean) {
    this.#dataPath = config.data;
    this.threshold = new LogThreshold(config["log.level"]);
    process.on(TOGGLE_SIGNAL, () => this.#toggleDebug());
    this.writer = new LogWriter(logFormatOf(config["log.format"], isTerminal), isTerminal);
    const endpoints = logEndpointsOf(config);
    if (endpoints.length === 0) return;
    const spoolDirectory = path.join(config.data, "log-spool");
    this.#shipper = new Shipper(
      { endpoints, spoolDirectory },
      {
        onEndpoint: (endpoint, isUp, problem) => {
          if (isUp) this.#logger?.info("the log endpoint takes lines again", { endpoint });
          else this.#logger?.warn("the log endpoint takes no lines", { endpoint, problem });
        },
      },
    );
  }

  /** For the shipper's own log lines. */
  useLogger(logger: Logger): void {
    this.#logger = logger;
  }

  /** The registry of the process, with what it exports of its logs. */
  createMetrics(names: { readonly blockchainId: string; readonly node: string }): NodeMetrics {
    return new NodeMetrics(
      { ...names, version: programVersion(), dataPath: this.#dataPath },
      {
        shipper: () => this.#shipper?.counts,
        droppedOutputLines: () => this.writer.droppedCount,
      },
    );
  }

  write(text: string): void {
    this.writer.write(text);
    this.#shipper?.write(text);
  }

  async flush(): Promise<void> {
    await this.writer.flush();
  }

  async close(): Promise<void> {
    await this.#shipper?.close(CLOSE_WITHIN_MS);
  }

  #toggleDebug(): void {
    const isOn = this.threshold.level === "debug";
    // While the signal is listened for.
    if (isOn) this.#logger?.info("the log level goes back to what is configured");
    this.threshold.toggleDebug();
    if (!isOn) this.#logger?.info("the log level is debug now");
  }
}
