/* The oldest version of what the C library has renewed since 2.28, so that a core compiled here runs where the library is older.
   The newer versions differ in how they report errors, or in the last bit of a result. Empty for other C libraries and machines. */
#if defined(__x86_64__) && defined(__linux__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* as Python's headers, which come later, will have it */
#endif
#include <sys/stat.h>
#ifdef __GLIBC__
__asm__(".symver exp,exp@GLIBC_2.2.5");
__asm__(".symver exp2,exp2@GLIBC_2.2.5");
__asm__(".symver log,log@GLIBC_2.2.5");
__asm__(".symver log2,log2@GLIBC_2.2.5");
__asm__(".symver pow,pow@GLIBC_2.2.5");

/* Before 2.33 stat was a function of the header, around this one. */
__asm__(".symver __xstat,__xstat@GLIBC_2.2.5");
extern int __xstat(int version, const char *path, struct stat *found);
static inline int quartet_stat(const char *path, struct stat *found) { return __xstat(1, path, found); }
#define stat(path, found) quartet_stat(path, found)
#endif
#endif
