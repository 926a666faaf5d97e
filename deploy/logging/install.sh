#!/bin/sh
# Installs the log stack into the namespace default, before the network. Give storage classes and
# the like as further arguments of helm: install.sh --set volumeClaimTemplate.storageClassName=gp2
set -eu
cd "$(dirname "$0")"
version=7.17.3
helm repo add elastic https://helm.elastic.co
helm install elasticsearch elastic/elasticsearch --version "$version" --namespace default \
  -f elasticsearch.yaml "$@"
helm install kibana elastic/kibana --version "$version" --namespace default -f kibana.yaml
helm install logstash elastic/logstash --version "$version" --namespace default -f logstash.yaml
echo 'Kibana: kubectl port-forward service/kibana-kibana 5601:5601 --namespace default'
echo 'then open http://localhost:5601/app/discover and create the index pattern'
echo 'logs-generic-default* with the time field @timestamp, once a network has sent logs.'
