#!/bin/sh
# OpenStack Swift with its S3 API on loopback, to try FILES_URL against storage that others wrote. Once, as root, on Debian 12:
#   apt-get install --no-install-recommends swift-proxy swift-account swift-container swift-object memcached curl
# Then: sh deploy/try-swift.sh FOLDER. It prints the settings, and runs until Ctrl-C; FOLDER must be on ext4 or XFS (extended attributes).
set -eu
folder=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$folder"
mkdir -p devices/d1
for part in account container object; do
  case $part in account) port=16202 ;; container) port=16201 ;; object) port=16200 ;; esac
  if [ ! -e $part.ring.gz ]; then
    swift-ring-builder $part.builder create 4 1 1 > /dev/null
    swift-ring-builder $part.builder add r1z1-127.0.0.1:$port/d1 1 > /dev/null
    swift-ring-builder $part.builder rebalance > /dev/null
  fi
  cat > $part-server.conf <<END
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $port
swift_dir = $folder
devices = $folder/devices
mount_check = false
user = $(id -un)
workers = 0
log_level = WARNING
[pipeline:main]
pipeline = $part-server
[app:$part-server]
use = egg:swift#$part
END
done
cat > proxy-server.conf <<END
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = 16080
swift_dir = $folder
user = $(id -un)
workers = 0
log_level = WARNING
[pipeline:main]
pipeline = catch_errors cache listing_formats bulk s3api tempauth copy slo dlo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:16211
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
END
memcached -l 127.0.0.1 -p 16211 -u nobody &
pids=$!
trap 'kill $pids 2> /dev/null; exit 0' INT TERM
for part in object container account proxy; do
  swift-$part-server "$folder/$part-server.conf" > "$part.log" 2>&1 &
  pids="$pids $!"
done
# tempauth keeps its tokens in memcached. The bucket is a container.
until token=$(curl -sf -i -H 'X-Auth-User: test:tester' -H 'X-Auth-Key: testing' http://127.0.0.1:16080/auth/v1.0); do sleep 0.2; done
token=$(echo "$token" | tr -d '\r' | sed -n 's/^X-Auth-Token: //Ip')
curl -sf -X PUT -H "X-Auth-Token: $token" http://127.0.0.1:16080/v1/AUTH_test/switchboard
echo "export FILES_URL='s3://switchboard/files?endpoint=http://127.0.0.1:16080&region=us-east-1'"
echo "export AWS_ACCESS_KEY_ID=test:tester AWS_SECRET_ACCESS_KEY=testing"
wait
