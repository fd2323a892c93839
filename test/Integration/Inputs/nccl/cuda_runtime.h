// The part of the CUDA runtime that NcclTransport.h uses, without CUDA: a stream is a
// thread that runs what it is given in order. Defined in device.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
struct cudaStreamTag;
using cudaStream_t = cudaStreamTag *;
struct cudaEventTag;
using cudaEvent_t = cudaEventTag *;
enum cudaError_t { cudaSuccess, cudaErrorNotReady };
enum { cudaEventDisableTiming = 2, cudaStreamNonBlocking = 1 };
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventQuery(cudaEvent_t);
const char *cudaGetErrorString(cudaError_t);
