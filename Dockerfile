# The package of the server, made of this folder, on the Node.js of the image: the version that package.json pins. Who builds for production
# adds the digest of the image (docker buildx imagetools inspect node:24.21.0-slim).
FROM node:24.21.0-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY server/package.json server/
COPY sdk/package.json sdk/
COPY console/package.json console/
COPY testing/package.json testing/
# Without install scripts: all that is used here is esbuild, whose program comes as a package of its own.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY . .
# What npm caches stays in this stage.
RUN npm pack --workspace server --pack-destination /tmp --loglevel=error \
  && npm install --prefix /opt/switchboard --ignore-scripts --no-audit --no-fund /tmp/switchboard-server-*.tgz

FROM node:24.21.0-slim
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Switchboard" \
  org.opencontainers.image.description="A self-hosted business messaging platform" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.base.name="docker.io/library/node:24.21.0-slim"
# Everything belongs to root but the data, so the server cannot change what it runs.
COPY --from=build /opt/switchboard /opt/switchboard
RUN ln -s /opt/switchboard/node_modules/.bin/switchboard /usr/local/bin/switchboard \
  && install --directory --owner=node --group=node --mode=700 /data
# By its number: Kubernetes checks that this is not root.
USER 1000
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=6s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=16", "/usr/local/bin/switchboard"]
CMD ["serve"]
