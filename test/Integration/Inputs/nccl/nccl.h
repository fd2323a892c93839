// The part of NCCL that NcclTransport.h uses, without NCCL: a send and a receive meet, as
// on a GPU, when both are at the head of their streams. Defined in device.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <cstddef>
struct cudaStreamTag;
using cudaStream_t = cudaStreamTag *;
struct ncclComm;
using ncclComm_t = ncclComm *;
enum ncclResult_t { ncclSuccess, ncclInternalError };
enum ncclDataType_t { ncclChar };
ncclResult_t ncclSend(const void *, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
ncclResult_t ncclRecv(void *, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclCommUserRank(ncclComm_t, int *);
ncclResult_t ncclCommCount(ncclComm_t, int *);
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t *);
const char *ncclGetErrorString(ncclResult_t);
