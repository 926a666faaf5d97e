/**
 * The registry of a node process and what every node exports: the process, its disk, its logs.
 * Values that the node knows anyway are read when they are asked for; only times are noted as they
 * happen. docs/observability.md lists every name; a test compares the two.
 */
import { statfsSync } from "node:fs";
import { Counter, Gauge, Histogram, Registry } from "prom-client";

export type NodeMetricsOptions = {
  readonly blockchainId: string;
  readonly node: string;
  readonly version: string;
  readonly dataPath: string;
};

/** As the log shipper counts; see src/logging/shipper.ts. */
export type ShipperMetrics = {
  readonly spoolSize: number;
  readonly overflowLines: number;
  readonly endpoints: readonly {
    readonly name: string;
    readonly isUp: boolean;
    readonly sentLines: number;
    readonly droppedLines: number;
    readonly rejectedLines: number;
    readonly waitingLines: number;
    readonly failedRequests: number;
  }[];
};

export type NodeMetricsSource = {
  readonly shipper: () => ShipperMetrics | undefined;
  /** Lines that could not be written to standard output. */
  readonly droppedOutputLines: () => number;
};

type Labels = Readonly<Record<string, string | number>>;
type Sample = { readonly value: number; readonly labels?: Labels };

const MS_PER_SECOND = 1_000;
const MICROSECONDS_PER_SECOND = 1_000_000;

export class NodeMetrics {
  readonly #registry = new Registry();

  constructor(options: NodeMetricsOptions, source: NodeMetricsSource) {
    const { blockchainId, node, version, dataPath } = options;
    this.#registry.setDefaultLabels({ blockchain_id: blockchainId, node });
    this.gauge("quorate_build_info", "1, with the version of the program.", ["version"], () => [
      { value: 1, labels: { version } },
    ]);
    this.#addProcess();
    this.#addDisk(dataPath);
    this.#addLogs(source);
  }

  /** In the text format of Prometheus. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  names(): readonly string[] {
    return this.#registry.getMetricsAsArray().map(({ name }) => name);
  }

  gauge(
    name: string,
    help: string,
    labels: readonly string[],
    read: () => readonly Sample[],
  ): void {
    const gauge: Gauge = new Gauge({
      ...{ name, help, labelNames: [...labels], registers: [this.#registry] },
      collect: () => {
        gauge.reset();
        const samples = read();
        // A reset would leave a 0, but an unknown value is not 0.
        if (samples.length === 0 && labels.length === 0) gauge.remove();
        for (const { value, labels: given = {} } of samples) gauge.set(given, value);
      },
    });
  }

  /** Of a number that the node counts itself. */
  counter(
    name: string,
    help: string,
    labels: readonly string[],
    read: () => readonly Sample[],
  ): void {
    const counter: Counter = new Counter({
      ...{ name, help, labelNames: [...labels], registers: [this.#registry] },
      collect: () => {
        counter.reset();
        for (const { value, labels: given = {} } of read()) counter.inc(given, value);
      },
    });
  }

  /** Counts events with labels as they happen. */
  eventCounter(name: string, help: string, labels: readonly string[]): (given: Labels) => void {
    const registers = [this.#registry];
    const counter = new Counter({ name, help, labelNames: [...labels], registers });
    return (given) => counter.inc(given);
  }

  histogram(name: string, help: string, buckets: readonly number[]): (value: number) => void {
    const registers = [this.#registry];
    const histogram = new Histogram({ name, help, buckets: [...buckets], registers });
    return (value) => histogram.observe(value);
  }

  histogramBy(
    name: string,
    help: string,
    options: { readonly label: string; readonly buckets: readonly number[] },
  ): (label: string, value: number) => void {
    const { label, buckets } = options;
    const registers = [this.#registry];
    const labelNames = [label];
    const histogram = new Histogram({ name, help, labelNames, buckets: [...buckets], registers });
    const children = new Map<string, { observe(value: number): void }>();
    return (given, value) => {
      const child = children.get(given) ?? histogram.labels(given);
      children.set(given, child);
      child.observe(value);
    };
  }

  #addProcess(): void {
    const startedSeconds = Date.now() / MS_PER_SECOND - process.uptime();
    const help = "Seconds of processor time that the process used.";
    this.counter("process_cpu_seconds_total", help, [], () => {
      const { user, system } = process.cpuUsage();
      return [{ value: (user + system) / MICROSECONDS_PER_SECOND }];
    });
    this.#simple(
      "process_start_time_seconds",
      "When the process started, in seconds since 1970.",
      () => startedSeconds,
    );
    this.#simple(
      "process_resident_memory_bytes",
      "Memory of the process, mapped files included.",
      () => process.memoryUsage.rss(),
    );
    this.#simple(
      "nodejs_heap_size_used_bytes",
      "JavaScript objects of the main thread.",
      () => process.memoryUsage().heapUsed,
    );
    let last = performance.eventLoopUtilization();
    const busy = "Share of the time since the last scrape in which the main thread was busy.";
    this.#simple("nodejs_eventloop_utilization_ratio", busy, () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return Number.isFinite(utilization) ? utilization : 0;
    });
  }

  #addDisk(dataPath: string): void {
    const read =
      (pick: (bsize: number, available: number, total: number) => number) => (): number => {
        try {
          const { bsize, bavail, blocks } = statfsSync(dataPath);
          return pick(bsize, bavail, blocks);
        } catch {
          return 0;
        }
      };
    const free = "Room that is left on the disk of the node's data.";
    this.#simple(
      "quorate_disk_free_bytes",
      free,
      read((bsize, available) => bsize * available),
    );
    const size = "Size of the disk of the node's data.";
    this.#simple(
      "quorate_disk_size_bytes",
      size,
      read((bsize, _available, total) => bsize * total),
    );
  }

  #addLogs({ shipper, droppedOutputLines }: NodeMetricsSource): void {
    this.counter(
      "quorate_log_output_dropped_lines_total",
      "Log lines that standard output did not take.",
      [],
      () => [{ value: droppedOutputLines() }],
    );
    type Endpoint = ShipperMetrics["endpoints"][number];
    const each = (pick: (endpoint: Endpoint) => number) => (): Sample[] =>
      (shipper()?.endpoints ?? []).map((endpoint) => ({
        value: pick(endpoint),
        labels: { endpoint: endpoint.name },
      }));
    const prefix = "quorate_log_shipper";
    const counters: readonly (readonly [string, string, (endpoint: Endpoint) => number])[] = [
      ["sent_lines", "Log lines that the endpoint took.", ({ sentLines }) => sentLines],
      ["dropped_lines", "Log lines dropped because the spool was full.", (one) => one.droppedLines],
      [
        "rejected_lines",
        "Log lines that the endpoint refused for good.",
        (one) => one.rejectedLines,
      ],
      ["failed_requests", "Requests to the endpoint that failed.", (one) => one.failedRequests],
    ];
    for (const [name, help, pick] of counters) {
      this.counter(`${prefix}_${name}_total`, help, ["endpoint"], each(pick));
    }
    const waiting = "Log lines that wait for the endpoint.";
    this.gauge(
      `${prefix}_waiting_lines`,
      waiting,
      ["endpoint"],
      each((one) => one.waitingLines),
    );
    const up = "1 while the endpoint takes log lines.";
    this.gauge(
      `${prefix}_up`,
      up,
      ["endpoint"],
      each(({ isUp }) => Number(isUp)),
    );
    this.#simple(
      `${prefix}_spool_bytes`,
      "Log lines that wait on disk.",
      () => shipper()?.spoolSize ?? 0,
    );
    this.counter(
      `${prefix}_overflow_lines_total`,
      "Log lines dropped in memory because the shipper was behind.",
      [],
      () => [{ value: shipper()?.overflowLines ?? 0 }],
    );
  }

  #simple(name: string, help: string, read: () => number): void {
    this.gauge(name, help, [], () => [{ value: read() }]);
  }
}
