#!/bin/sh
# Removes the log stack. Its volumes stay; the last line deletes them and with them all logs.
set -eu
helm uninstall logstash kibana elasticsearch --namespace default
echo 'Volumes are kept. To delete them: kubectl delete pvc --namespace default' \
  '--selector "app in (elasticsearch-master, logstash-logstash)"'
