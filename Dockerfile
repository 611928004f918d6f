# docker build -t stowage .    (./dev image does it by buildah, and can do it twice and compare)
# The base is named by its digest, for both stages; to take a newer one up: docker buildx imagetools inspect debian:12-slim.
# Debian's packages are those of one moment, so that a build on another day has the same; no older than the base, whose own
# packages they must fit. For the newest: --build-arg SNAPSHOT=$(date -u +%Y%m%dT000000Z). With an empty SNAPSHOT they come from
# where the base has its own from (a mirror, with a --build-arg BASE= that knows it).
# The packages are those of ./dev (BASE_PACKAGES), and what they link at run time.
ARG BASE=debian:12-slim@sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171
ARG SNAPSHOT=20261101T000000Z
FROM $BASE AS build
ARG SNAPSHOT
RUN sed -i "${SNAPSHOT:+s|^URIs: http://deb.debian.org/\(.*\)|URIs: http://snapshot.debian.org/archive/\1/$SNAPSHOT|}" \
        /etc/apt/sources.list.d/debian.sources \
    && apt-get -o Acquire::Check-Valid-Until=false update && apt-get install -y --no-install-recommends \
        gcc g++ cmake ninja-build pkg-config git libh2o-evloop-dev libssl-dev \
        libcurl4-openssl-dev libsimdjson-dev libyaml-dev libxxhash-dev libjansson-dev libcmocka-dev
COPY . /src
WORKDIR /src
RUN cmake --preset release && cmake --build build/release --target stowage \
    && packaging/sbom build/release/stowage "$(build/release/stowage version | cut -d' ' -f2)" >sbom.cdx.json

FROM $BASE
ARG SNAPSHOT
RUN sed -i "${SNAPSHOT:+s|^URIs: http://deb.debian.org/\(.*\)|URIs: http://snapshot.debian.org/archive/\1/$SNAPSHOT|}" \
        /etc/apt/sources.list.d/debian.sources \
    && apt-get -o Acquire::Check-Valid-Until=false update && apt-get install -y --no-install-recommends \
        libh2o-evloop0.13 libssl3 libcurl4 libsimdjson14 libyaml-0-2 libjansson4 ca-certificates \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/*.log /var/cache/ldconfig /var/cache/debconf/*-old
COPY --from=build /src/build/release/stowage /usr/local/bin/stowage
COPY --from=build /src/sbom.cdx.json /usr/share/doc/stowage/sbom.cdx.json
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/stowage"]
