/** `quorate cluster-init`: what the chart's init Job runs before an install and an upgrade. */
import { CodedError } from "../../base/coded-error.ts";
import { problemText } from "../../config/config-problem.ts";
import { createInCluster } from "../cluster-init/create-in-cluster.ts";
import { createKubernetesSecrets, loadClusterAccess } from "../cluster-init/kubernetes-secrets.ts";
import { parseWantedNetwork, type WantedNetwork } from "../cluster-init/wanted-network.ts";
import { usageError, type Command } from "../command.ts";
import { readText } from "../../node/load-config.ts";
import { shownPath } from "../../node/shown-path.ts";

export const clusterInit: Command = {
  name: "cluster-init",
  summary: "make keys, admin account and genesis in a Kubernetes cluster, if they are missing",
  options: [{ name: "wanted", value: "FILE", summary: "what the chart asks for, as JSON" }],
  details: "The chart runs this in a pod of its own. It never overwrites what is there.",
  async run({ texts: { wanted: file } }, { terminal, environment }) {
    if (file === undefined) throw usageError("--wanted is missing", "cluster-init");
    const wanted = loadWanted(file);
    // Not app.kubernetes.io/instance: tools that deploy from a repository claim objects with that
    // label, and delete those that are not in their manifests.
    const labels = { "app.kubernetes.io/part-of": "quorate", "quorate/release": wanted.release };
    const secrets = createKubernetesSecrets(loadClusterAccess(environment), labels);
    for (const { secret, isNew } of await createInCluster(wanted, secrets, Date.now())) {
      terminal.result(isNew ? `made Secret ${secret}` : `kept Secret ${secret}`);
    }
    return 0;
  },
};

function loadWanted(file: string): WantedNetwork {
  const parsed = parseWantedNetwork(readText(file));
  if (parsed.ok) return parsed.value;
  const problems = parsed.error.map(problemText).join("; ");
  throw new CodedError("CONFIG_INVALID", { path: shownPath(file), problems });
}
