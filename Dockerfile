# The names of libraries are those of this release of Debian.
# docker build -t heddle . && docker run --rm heddle bench lud bfs --size small
FROM debian:bookworm-slim AS build
WORKDIR /src
COPY . .
RUN apt-get update && apt-get install -y --no-install-recommends make && ./deps && \
    make install PREFIX=/usr DESTDIR=/out JOBS="$(nproc)"

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
    libconfig9 libcjson1 libsqlite3-0 libelf1 liblz4-1 libzstd1 libxxhash0 libstdc++6 libmicrohttpd12 gnuplot-nox && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/ /
ENTRYPOINT ["heddle"]
