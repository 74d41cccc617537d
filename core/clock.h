/* The monotonic clock, and when the operating system started this process. */
#ifndef QUARTET_CLOCK_H
#define QUARTET_CLOCK_H

#ifdef _WIN32
#include <windows.h>

static inline double clock_now(void) {
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&frequency);
    return (double)ticks.QuadPart / (double)frequency.QuadPart;
}

static inline double filetime_seconds(FILETIME f) {
    return (double)(((unsigned long long)f.dwHighDateTime << 32) | f.dwLowDateTime) * 1e-7;
}

static inline double clock_process_age(void) {
    FILETIME now, created, ended, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user)) return -1;
    GetSystemTimeAsFileTime(&now);
    return filetime_seconds(now) - filetime_seconds(created);
}

#else
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline double clock_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#if defined(__linux__)
/* /proc/self/stat, field 22: start time after boot, in ticks (10 ms), rounded down: the age comes out up to a tick too old. */
static inline double clock_process_age(void) {
    char text[2048];
    FILE *file = fopen("/proc/self/stat", "r");
    if (!file) return -1;
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    const char *field = strrchr(text, ')'); /* the name in field 2 may hold spaces and brackets */
    for (int number = 2; field && number < 22; number++) field = strchr(field + 1, ' ');
    unsigned long long started;
    if (!field || sscanf(field, "%llu", &started) != 1) return -1;
    struct timespec t;
    if (clock_gettime(CLOCK_BOOTTIME, &t)) return -1;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec - (double)started / (double)sysconf(_SC_CLK_TCK);
}

#elif defined(__APPLE__)
#include <sys/sysctl.h>
#include <sys/time.h>
static inline double clock_process_age(void) {
    struct kinfo_proc info;
    size_t size = sizeof info;
    int name[4] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, (int)getpid()};
    struct timeval now;
    if (sysctl(name, 4, &info, &size, NULL, 0) || size == 0 || gettimeofday(&now, NULL)) return -1;
    struct timeval started = info.kp_proc.p_starttime;
    return (double)(now.tv_sec - started.tv_sec) + 1e-6 * (double)(now.tv_usec - started.tv_usec);
}

#else
static inline double clock_process_age(void) { return -1; }
#endif
#endif
#endif
