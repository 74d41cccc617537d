/* Use the oldest versions of functions that the C library has changed since 2.28, so that a core
   compiled here runs with an older library. The newer versions differ in how they report errors, or
   in the last bit of a result. Other C libraries and machines need nothing. */
#if defined(__x86_64__) && defined(__linux__) && !defined(__ASSEMBLER__)
#include <features.h>
#ifdef __GLIBC__
__asm__(".symver exp,exp@GLIBC_2.2.5");
__asm__(".symver exp2,exp2@GLIBC_2.2.5");
__asm__(".symver log,log@GLIBC_2.2.5");
__asm__(".symver log2,log2@GLIBC_2.2.5");
__asm__(".symver pow,pow@GLIBC_2.2.5");
#endif
#endif
