# The scheduler as an image: `docker build -t almanac .` in a clone, or in the folder of an installed package.
# examples/deploy/compose.yaml runs it.
ARG BASE=node:24-slim

# A package contains the built program, a clone builds it.
FROM --platform=$BUILDPLATFORM ${BASE} AS program
WORKDIR /program
COPY . .
RUN [ -e dist/src/cli/al.js ] || { npm ci --workspaces=false --no-audit --no-fund && npm run build; }

# No RUN from here on, so that any machine can build it for any platform.
FROM ${BASE}
COPY --from=program /program/package.json /opt/almanac/
COPY --from=program /program/dist /opt/almanac/dist
COPY --chmod=755 examples/deploy/al.sh /usr/local/bin/al
ENV AL_HOME=/almanac HOME=/almanac
EXPOSE 8080
# "/health/ready" writes to the store; "/health" only says that the process lives.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["node", "--eval", "fetch('http://127.0.0.1:8080/health/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["al"]
CMD ["start", "--web-ui", "--headless", "--host", "0.0.0.0", "--port", "8080"]
