"""Classes with the names and constructors of those of DeepSpeed and of the ZB-H1
schedule of Megatron-DeepSpeed."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


class PipeSchedule:
    def __init__(self, micro_batches, stages, stage_id):
        self.micro_batches, self.stages, self.stage_id = micro_batches, stages, stage_id

    def __iter__(self):
        return self.steps()


class PipeInstruction:
    def __init__(self, **kwargs):
        self.kwargs = kwargs


class BufferOpInstruction(PipeInstruction):
    def __init__(self, buffer_id, **kwargs):
        super().__init__(buffer_id=buffer_id, **kwargs)


class LoadMicroBatch(BufferOpInstruction):
    pass


class ForwardPass(BufferOpInstruction):
    pass


class BackwardPass(BufferOpInstruction):
    pass


class BackwardOnlyPass(BufferOpInstruction):
    pass


class WeightPass(PipeInstruction):
    pass


class SendActivation(BufferOpInstruction):
    pass


class RecvActivation(BufferOpInstruction):
    pass


class SendGrad(BufferOpInstruction):
    pass


class RecvGrad(BufferOpInstruction):
    pass


class ReduceTiedGrads(PipeInstruction):
    pass


class ReduceGrads(PipeInstruction):
    pass


class OptimizerStep(PipeInstruction):
    pass


class ZeroBubbleH1(PipeSchedule):
    """1F1B in which rank r does the weight gradients r backwards later."""

    def num_pipe_buffers(self):
        return min(self.stages - self.stage_id, self.micro_batches) + 1

    def steps(self):
        r, p, m = self.stage_id, self.stages, self.micro_batches
        buffers = self.num_pipe_buffers()
        warmup = min(m, p - 1 - r)
        forwards = backwards = weights = 0

        def forward():
            nonlocal forwards
            b = forwards % buffers
            forwards += 1
            step = [RecvActivation(b)] if r else []
            step += [LoadMicroBatch(b)] if r in (0, p - 1) else []
            return step + [ForwardPass(b)] + ([SendActivation(b)] if r != p - 1 else [])

        def backward():
            nonlocal backwards
            b = backwards % buffers
            backwards += 1
            step = [RecvGrad(b)] if r != p - 1 else []
            return step + [BackwardOnlyPass(b)] + ([SendGrad(b)] if r else [])

        def weight():
            nonlocal weights
            weights += 1
            return [WeightPass()]

        for _ in range(warmup):
            yield forward()
        for i in range(m - warmup):
            yield forward() + backward() + (weight() if i >= r else [])
        for _ in range(warmup):
            yield backward() + (weight() if backwards > r else [])
        while weights < m:
            yield weight()
        yield [ReduceTiedGrads(), ReduceGrads(), OptimizerStep()]
