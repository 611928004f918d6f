# docker build -t stowage .
# The base is named by its digest, one for both stages; to take a newer one up: docker buildx imagetools inspect debian:12-slim.
# The packages are those of ./dev (BASE_PACKAGES), and what they link at run time.
FROM debian:12-slim@sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171 AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
        gcc g++ cmake ninja-build pkg-config git libh2o-evloop-dev libssl-dev \
        libcurl4-openssl-dev libsimdjson-dev libyaml-dev libxxhash-dev libjansson-dev libcmocka-dev
COPY . /src
WORKDIR /src
RUN cmake --preset release && cmake --build build/release --target stowage \
    && packaging/sbom build/release/stowage "$(build/release/stowage version | cut -d' ' -f2)" >sbom.cdx.json

FROM debian:12-slim@sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171
RUN apt-get update && apt-get install -y --no-install-recommends \
        libh2o-evloop0.13 libssl3 libcurl4 libsimdjson14 libyaml-0-2 libjansson4 ca-certificates \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/build/release/stowage /usr/local/bin/stowage
COPY --from=build /src/sbom.cdx.json /usr/share/doc/stowage/sbom.cdx.json
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/stowage"]
