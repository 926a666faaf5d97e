#!/bin/sh
# Installs the log stack into the namespace default, before the network.
#   install.sh [STORAGE_CLASS]      the class of the volumes of Elasticsearch and Logstash (standard)
set -eu
case "${1-}" in
  -*) echo "usage: $0 [STORAGE_CLASS]" >&2; exit 2 ;;
esac
class=${1:-standard}
cd "$(dirname "$0")"
version=7.17.3
volumes="volumeClaimTemplate.storageClassName=$class"
helm repo add elastic https://helm.elastic.co
helm repo update elastic
helm install elasticsearch elastic/elasticsearch --version "$version" --namespace default \
  -f elasticsearch.yaml --set "$volumes"
helm install kibana elastic/kibana --version "$version" --namespace default -f kibana.yaml
helm install logstash elastic/logstash --version "$version" --namespace default \
  -f logstash.yaml --set "$volumes"
echo 'Networks that are installed or upgraded from now on send their logs here by themselves.'
echo 'Kibana: kubectl port-forward service/kibana-kibana 5601:5601 --namespace default'
echo 'then open http://localhost:5601/app/discover and create the index pattern'
echo 'logs-generic-default* with the time field @timestamp, once a network has sent logs.'
