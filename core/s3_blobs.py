"""Content-addressed bytes on any S3 endpoint, by boto3."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

from core.blobs import check_key
from core.errors import InvalidInput, NotFound, Unavailable

_SPOOL = 8 << 20
_LINK_SECONDS = 300


class S3Blobs:
    """Blobs as objects `PREFIX/ab/SHA256`; credentials come from boto3's usual places.

    Path-style addresses suit MinIO-like servers. Big uploads are multipart; an object is there whole or not at all.
    """

    def __init__(self, url: str, endpoint: str = "", public_endpoint: str = "") -> None:
        parts = urlsplit(url)
        if parts.scheme != "s3" or not parts.netloc:
            raise InvalidInput(f"{url!r} is not an S3 address.", "Write s3://BUCKET or s3://BUCKET/PREFIX.")
        self._bucket = parts.netloc
        self._prefix = f"{parts.path.strip('/')}/blobs/".lstrip("/")
        self._endpoint = endpoint or None
        self._public = public_endpoint or None

    def put(self, stream: BinaryIO) -> str:
        """Store a stream; hashed while it is spooled, sent once the key is known, and not again if it is there.

        Raises `Unavailable` where the store refuses or does not answer.
        """
        digest, size = hashlib.sha256(), 0
        with tempfile.SpooledTemporaryFile(max_size=_SPOOL) as spool:
            while piece := stream.read(1 << 20):
                digest.update(piece)
                size += len(piece)
                spool.write(piece)
            key = digest.hexdigest()
            with _answering():
                if not self.exists(key):
                    spool.seek(0)
                    self._client.upload_fileobj(spool, self._bucket, self._name(key))
                    if self.size(key) != size:
                        self.delete(key)
                        raise Unavailable("The object store kept fewer bytes than were sent.", "Try again.")
        return key

    def open(self, key: str, start: int = 0) -> BinaryIO:
        """A readable stream from a byte on. Raises `NotFound`, and `Unavailable` where the store does not answer."""
        part = {"Range": f"bytes={start}-"} if start else {}
        with _answering():
            try:
                return cast(BinaryIO, self._client.get_object(Bucket=self._bucket, Key=self._name(key), **part)["Body"])
            except self._client.exceptions.NoSuchKey:
                raise NotFound(f"There is no blob {key}.") from None

    def exists(self, key: str) -> bool:
        """True if the content is stored."""
        try:
            self.size(key)
        except NotFound:
            return False
        return True

    def size(self, key: str) -> int:
        """Bytes. Raises `NotFound`."""
        from botocore.exceptions import ClientError

        with _answering():
            try:
                return int(self._client.head_object(Bucket=self._bucket, Key=self._name(key))["ContentLength"])
            except ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                    raise NotFound(f"There is no blob {key}.") from None
                raise

    def delete(self, key: str) -> None:
        """Remove; removing what is not there is harmless."""
        with _answering():
            self._client.delete_object(Bucket=self._bucket, Key=self._name(key))

    def keys(self) -> Iterator[str]:
        """All keys, sorted."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._prefix)
        return (entry["Key"].rsplit("/", 1)[-1] for page in pages for entry in page.get("Contents", ()))

    def link(self, key: str, file_name: str) -> str | None:
        """A presigned address that downloads the blob under a file name for five minutes, past our own server.

        None for a server other than Amazon's where nothing says how users reach it.
        """
        if self._endpoint and not self._public:
            return None
        plain = "".join(letter for letter in file_name if letter.isascii() and (letter.isalnum() or letter in "._-"))
        disposition = f'attachment; filename="{plain or "file"}"'
        parameters = {
            "Bucket": self._bucket, "Key": self._name(key), "ResponseContentDisposition": disposition,
            "ResponseContentType": "application/octet-stream",
        }  # fmt: skip
        return str(self._signer.generate_presigned_url("get_object", Params=parameters, ExpiresIn=_LINK_SECONDS))

    @cached_property
    def _client(self) -> Any:
        return self._opened(self._endpoint)

    @cached_property
    def _signer(self) -> Any:
        """Signs for the address that users reach; nothing is sent by it."""
        return self._client if self._public in (None, self._endpoint) else self._opened(self._public)

    def _opened(self, endpoint: str | None) -> Any:
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3",
            endpoint_url=endpoint,
            config=Config(
                signature_version="s3v4",
                s3={"addressing_style": "path" if endpoint else "auto"},
                retries={"max_attempts": 3, "mode": "standard"},
                connect_timeout=5,
                read_timeout=15,  # so that a request waits at most three quarters of a minute for a deaf store
                # Servers other than Amazon's do not all know the newer checksum headers.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )

    def _name(self, key: str) -> str:
        return f"{self._prefix}{check_key(key)[:2]}/{key}"


@contextmanager
def _answering() -> Iterator[None]:
    from boto3.exceptions import S3UploadFailedError
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError, S3UploadFailedError) as error:
        raise Unavailable("The object store refuses or does not answer.", "Try again in a moment.") from error
