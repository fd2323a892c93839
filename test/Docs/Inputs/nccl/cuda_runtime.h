// The few declarations of the CUDA runtime that docs/Runtime.md uses, to check
// its program without CUDA.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
struct cudaStreamTag;
using cudaStream_t = cudaStreamTag *;
struct cudaEventTag;
using cudaEvent_t = cudaEventTag *;
enum cudaError_t { cudaSuccess, cudaErrorNotReady };
enum { cudaEventDisableTiming = 2 };
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventQuery(cudaEvent_t);
const char *cudaGetErrorString(cudaError_t);
