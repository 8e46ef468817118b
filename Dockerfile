FROM node:24-slim
WORKDIR /opt/switchboard
COPY package.json package-lock.json ./
COPY server/package.json server/
COPY sdk/package.json sdk/
COPY console/package.json console/
COPY testing/package.json testing/
RUN npm ci --omit=dev --no-audit --no-fund
COPY server/src server/src
COPY server/bin server/bin
COPY sdk/src sdk/src
COPY console/src console/src
COPY console/shared console/shared
COPY worlds worlds
COPY scripts/compile.mjs scripts/console.mjs scripts/pack.mjs scripts/
# The server reads what it runs, and writes nothing but /data: all else belongs to root in the end. Compiling is done as its user all the
# same, because Node.js looks for what was compiled under the id of the user; the files that it writes are readable to that user alone.
RUN mkdir /data node_modules/.compiled node_modules/.packed node_modules/.console \
  && chown node:node /data node_modules/.compiled node_modules/.packed node_modules/.console \
  && su node -s /bin/sh -c 'node_modules/.bin/node --disable-warning=ExperimentalWarning scripts/compile.mjs' \
  && chown -R root:root node_modules/.compiled node_modules/.packed node_modules/.console \
  && chmod -R u=rwX,go=rX node_modules/.compiled node_modules/.packed node_modules/.console
USER node
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=6s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node_modules/.bin/node", "--disable-warning=ExperimentalWarning", "server/src/main.js"]
CMD ["serve"]
