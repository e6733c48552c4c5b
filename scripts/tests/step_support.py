"""A model small enough for stubs of devices, where each thread of a kernel is a fiber."""

from sweep_support import Folder

TENSORS = "name,shape,numel\nconv,3x5,15\nweight,64,64\nwide,700,700\nbias,1,1\nlast,9,9\n"
BYTES = 4 * (15 + 64 + 700 + 1 + 9)  # of its gradients in f32


class TinyModel(Folder):
    def setUp(self):
        super().setUp()
        self.model = self.csv.with_name("tiny.csv")
        self.model.write_text(TENSORS)
