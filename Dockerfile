# The package of the server, made of this folder, on the Node.js of the image.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY server/package.json server/
COPY sdk/package.json sdk/
COPY console/package.json console/
COPY testing/package.json testing/
# Without install scripts: all that is used here is esbuild, whose program comes as a package of its own.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm pack --workspace server --pack-destination /tmp --loglevel=error \
  && npm install --prefix /opt/switchboard --no-audit --no-fund /tmp/switchboard-server-*.tgz

FROM node:24-slim
# Everything belongs to root but the data, so the server cannot change what it runs.
COPY --from=build /opt/switchboard /opt/switchboard
RUN ln -s /opt/switchboard/node_modules/.bin/switchboard /usr/local/bin/switchboard \
  && install --directory --owner=node --group=node --mode=700 /data
USER node
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=6s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["switchboard"]
CMD ["serve"]
