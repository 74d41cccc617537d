/* Number of threads of this process that can run at once: the cores of its affinity mask; on Linux
   at most the CPU quota of its control group. At least 1. */
#ifndef QUARTET_CORES_H
#define QUARTET_CORES_H

#ifdef _WIN32
#include <windows.h>

static inline int cores_usable(void) {
    DWORD_PTR own, all;
    int count = 0;
    /* the mask is 0 if the process may run on several groups of 64 cores */
    if (GetProcessAffinityMask(GetCurrentProcess(), &own, &all)) {
        for (; own; own &= own - 1) {
            count++;
        }
    }
    return count > 0 ? count : (int)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

#else
#ifdef __linux__
#include <sched.h> /* for _GNU_SOURCE, which Python.h defines */
#include <stdio.h>
#endif
#include <unistd.h>

static inline int cores_usable(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
    unsigned long mask[128] = {0};
    if (sched_getaffinity(0, sizeof mask, (cpu_set_t*)mask) == 0) {
        count = 0;
        for (int i = 0; i < 128; i++) {
            count += __builtin_popcountl(mask[i]);
        }
    }
    FILE* file = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (file) {
        long long quota, period; /* microseconds of processor time per period of wall-clock time */
        if (fscanf(file, "%lld %lld", &quota, &period) == 2 && period > 0 &&
            quota / period < count) {
            count = (long)(quota / period);
        }
        fclose(file);
    }
#endif
    return count > 0 ? (int)count : 1;
}
#endif
#endif
