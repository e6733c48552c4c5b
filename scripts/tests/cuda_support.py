"""What the tests on the stub driver share: its path, its name, the environment that makes it the driver."""

import os

from program import ROOT

STUB = os.environ.get("COLLMARK_STUB_DRIVER", str(ROOT / "build/kernels/stub_driver/libcollmark_stub_driver.so"))
NVML = os.environ.get("COLLMARK_STUB_NVML", str(ROOT / "build/kernels/stub_nvml/libcollmark_stub_nvml.so"))
STUB_NAME = "collmark stub (CPU, no GPU)"
ABSENT = {"COLLMARK_CUDA_DRIVER": "/no/such/libcuda.so.1"}


def stubbed(fault="", devices=1, **more):
    return {
        "COLLMARK_CUDA_DRIVER": STUB,
        "COLLMARK_STUB_FAULT": fault,
        "COLLMARK_STUB_DEVICES": str(devices),
        **more,
    }
