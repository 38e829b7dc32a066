# A bare installation of the harness: text metrics, tests, reports. Build with --build-arg EXTRAS=embeddings,models for more (torch for CPU).
#
#   docker build -t caption-harness .
#   docker run --rm -v "$PWD:/work" caption-harness score A.json --references R.json
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY harness harness
COPY plugins plugins
COPY adapters adapters
COPY tasks tasks
COPY kernels kernels
# The image has no C++ compiler: the kernels are built with zig's.
RUN pip install --no-cache-dir build ziglang \
    && python -m build --wheel --outdir /dist . \
    && CMAKE_TOOLCHAIN_FILE=/source/kernels/zig/toolchain.cmake ZIG_PYTHON=$(command -v python) \
       python -m build --wheel --outdir /dist kernels

FROM python:3.12-slim
ARG EXTRAS=""
# The wheels are mounted: copied ones would stay in a layer. Tests of libraries, headers and Arrow's server are removed, and what needs Java.
RUN --mount=type=bind,from=build,source=/dist,target=/dist \
    if [ -n "$EXTRAS" ]; then \
      pip install --no-cache-dir --index-url https://download.pytorch.org/whl/cpu torch; \
    fi \
    && wheel=$(ls /dist/caption_harness-[0-9]*.whl) \
    && pip install --no-cache-dir --find-links /dist "${wheel}${EXTRAS:+[$EXTRAS]}" \
    && site=$(python -c "import sysconfig; print(sysconfig.get_path('purelib'))") \
    && find "$site/numpy" "$site/scipy" "$site/pyarrow" -type d -name tests -prune -exec rm -r {} + \
    && rm -r "$site"/pyarrow/include "$site"/pyarrow/*flight* \
    && case "$EXTRAS" in *java*) ;; *) rm -r "$site"/pycocoevalcap/spice "$site"/pycocoevalcap/tokenizer ;; esac \
    && useradd --create-home user
USER user
WORKDIR /work
ENV HARNESS_CACHE=/home/user/.cache/harness
# Builds METEOR's tables once, so that a container starts warm.
RUN cd /tmp && harness run coco --limit 4 --output /tmp/run > /dev/null && rm -r /tmp/run
ENTRYPOINT ["harness"]
CMD ["--help"]
