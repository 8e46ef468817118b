# PgBouncer for compose.yaml. Debian's package, and no other, is installed when the image is built: nothing is fetched at a start.
FROM debian:12-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends 'pgbouncer=1.18.*' \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o postgres -g postgres -m 700 /run/pgbouncer
COPY pgbouncer.ini /etc/pgbouncer/pgbouncer.ini
USER postgres
# A quote in a password is written twice there.
CMD ["sh", "-c", "umask 077 && printf '\"switchboard\" \"%s\"\\n' \"$(printf %s \"$POSTGRES_PASSWORD\" | sed 's/\"/\"\"/g')\" > /run/pgbouncer/userlist.txt && exec pgbouncer /etc/pgbouncer/pgbouncer.ini"]
EXPOSE 6432
