/* The monotonic clock, and the ages of this process and of its parent, in seconds.

   Ages err on the safe side: a process may appear older than it is, by the resolution of the
   system's start times, but never younger. */
/* clang-format off */
/*
   clock_now            monotonic, with an arbitrary zero
   clock_process_age    since the system started this process; negative if unknown
   clock_outer_age      the same of the parent, if it is older and runs the same executable file: a
                        one-file executable unpacks itself and runs itself again, and the user
                        started the outer process. Negative in all other cases. */
/* clang-format on */
#ifndef QUARTET_CLOCK_H
#define QUARTET_CLOCK_H

#ifdef _WIN32
#include <windows.h>
#include <wchar.h>

static inline double clock_now(void) {
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&frequency);
    return (double)ticks.QuadPart / (double)frequency.QuadPart;
}

static inline double filetime_seconds(FILETIME f) {
    return (double)(((unsigned long long)f.dwHighDateTime << 32) | f.dwLowDateTime) * 1e-7;
}

/* The precise time, not the time of the last tick: start times have the resolution of a tick, and
   the rest of it must not be lost. */
static inline double system_seconds(void) {
    FILETIME now;
    GetSystemTimePreciseAsFileTime(&now);
    return filetime_seconds(now);
}

/* Start time on the clock of system_seconds; negative if unknown. */
static inline double process_born(HANDLE process) {
    FILETIME created, ended, kernel, user;
    return GetProcessTimes(process, &created, &ended, &kernel, &user) ? filetime_seconds(created)
                                                                      : -1;
}

static inline double clock_process_age(void) {
    double born = process_born(GetCurrentProcess());
    return born < 0 ? -1 : system_seconds() - born;
}

/* PROCESS_BASIC_INFORMATION; winternl.h does not name its last fields. */
struct process_basics {
    LONG status;
    void* environment_block;
    ULONG_PTR affinity;
    LONG priority;
    ULONG_PTR id;
    ULONG_PTR parent;
};

/* A handle of the parent, to be closed; NULL if there is none. Windows only stores the number of
   the parent, which may belong to another process by now. */
static inline HANDLE parent_process(void) {
    typedef LONG(NTAPI * query_t)(HANDLE, int, void*, ULONG, ULONG*);
    HMODULE library = GetModuleHandleW(L"ntdll.dll");
    query_t query =
        library ? (query_t)(void*)GetProcAddress(library, "NtQueryInformationProcess") : NULL;
    struct process_basics basics;
    ULONG size;
    if (!query || query(GetCurrentProcess(), 0 /* ProcessBasicInformation */, &basics,
                        sizeof basics, &size) != 0) {
        return NULL;
    }
    return OpenProcess(0x1000 /* PROCESS_QUERY_LIMITED_INFORMATION */, FALSE, (DWORD)basics.parent);
}

static inline int same_program(HANDLE one, HANDLE other) {
    wchar_t a[1024], b[1024];
    DWORD length_a = 1024, length_b = 1024;
    return QueryFullProcessImageNameW(one, 0, a, &length_a) &&
           QueryFullProcessImageNameW(other, 0, b, &length_b) && length_a == length_b &&
           _wcsicmp(a, b) == 0;
}

static inline double clock_outer_age(void) {
    HANDLE parent = parent_process();
    if (!parent) {
        return -1;
    }
    double born = process_born(parent), own = process_born(GetCurrentProcess());
    /* a parent that is younger than its child is another process with a reused number */
    double age = born >= 0 && born <= own && same_program(parent, GetCurrentProcess())
                     ? system_seconds() - born
                     : -1;
    CloseHandle(parent);
    return age;
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
/* Seconds since the machine started; negative if unknown. */
static inline double system_seconds(void) {
    struct timespec t;
    return clock_gettime(CLOCK_BOOTTIME, &t) ? -1 : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Start time in seconds after boot: field 22 of /proc/PID/stat, in ticks of 10 ms. It is rounded
   down, so the age is up to a tick too high. */
static inline double process_born(int process) {
    char path[32], text[2048];
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE* file = fopen(path, "r");
    if (!file) {
        return -1;
    }
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    const char* field = strrchr(text, ')'); /* field 2, the name, may contain ')' */
    for (int number = 2; field && number < 22; number++) {
        field = strchr(field + 1, ' ');
    }
    unsigned long long started;
    if (!field || sscanf(field, "%llu", &started) != 1) {
        return -1;
    }
    return (double)started / (double)sysconf(_SC_CLK_TCK);
}

/* Writes the path of the file that a process runs; returns its length, negative if unknown. */
static inline long program_path(int process, char* path, size_t size) {
    char link[32];
    snprintf(link, sizeof link, "/proc/%d/exe", process);
    return (long)readlink(link, path, size);
}

static inline int same_program(int one, int other) {
    char a[4096], b[4096];
    long length = program_path(one, a, sizeof a);
    return length > 0 && program_path(other, b, sizeof b) == length &&
           memcmp(a, b, (size_t)length) == 0;
}

#elif defined(__APPLE__)
#include <libproc.h>
#include <sys/sysctl.h>
#include <sys/time.h>

static inline double system_seconds(void) {
    struct timeval now;
    return gettimeofday(&now, NULL) ? -1 : (double)now.tv_sec + 1e-6 * (double)now.tv_usec;
}

static inline double process_born(int process) {
    struct kinfo_proc info;
    size_t size = sizeof info;
    int name[4] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, process};
    if (sysctl(name, 4, &info, &size, NULL, 0) || size == 0) {
        return -1;
    }
    struct timeval started = info.kp_proc.p_starttime;
    return (double)started.tv_sec + 1e-6 * (double)started.tv_usec;
}

static inline int same_program(int one, int other) {
    char a[PROC_PIDPATHINFO_MAXSIZE], b[PROC_PIDPATHINFO_MAXSIZE];
    return proc_pidpath(one, a, sizeof a) > 0 && proc_pidpath(other, b, sizeof b) > 0 &&
           strcmp(a, b) == 0;
}

#else
static inline double system_seconds(void) {
    return -1;
}
static inline double process_born(int process) {
    (void)process;
    return -1;
}
static inline int same_program(int one, int other) {
    (void)one;
    (void)other;
    return 0;
}
#endif

static inline double clock_process_age(void) {
    double born = process_born((int)getpid()), now = system_seconds();
    return born < 0 || now < 0 ? -1 : now - born;
}

static inline double clock_outer_age(void) {
    int parent = (int)getppid();
    double born = process_born(parent), own = process_born((int)getpid()), now = system_seconds();
    return born >= 0 && now >= 0 && born <= own && same_program(parent, (int)getpid()) ? now - born
                                                                                       : -1;
}
#endif
#endif
