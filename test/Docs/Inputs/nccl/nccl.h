// The few declarations of NCCL that docs/Runtime.md uses, to check its program
// without NCCL.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
struct cudaStreamTag;
using cudaStream_t = cudaStreamTag *;
struct ncclCommTag;
using ncclComm_t = ncclCommTag *;
enum ncclResult_t { ncclSuccess };
enum ncclDataType_t { ncclChar };
ncclResult_t ncclSend(const void *, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
ncclResult_t ncclRecv(void *, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
const char *ncclGetErrorString(ncclResult_t);
