/* The workload that bad_kernels_testing.c is for: matmul:m=64,n=48,k=32. */
#ifndef TILEWRIGHT_MEASURE_BAD_KERNELS_TESTING_H_
#define TILEWRIGHT_MEASURE_BAD_KERNELS_TESTING_H_

#define BAD_KERNEL_WORKLOAD "matmul:m=64,n=48,k=32"
#define BAD_KERNEL_OUTPUT_FLOATS (64 * 48)

#endif /* TILEWRIGHT_MEASURE_BAD_KERNELS_TESTING_H_ */
