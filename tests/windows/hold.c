/* Keeps a file open until the end of its input. As Windows programs usually do, it lets others read
   and write the file, but neither replace nor delete it. */

#include <stdio.h>
#include <windows.h>

int main(int argc, char** argv) {
    HANDLE file = CreateFileA(argv[argc - 1], GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE,
                              NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        return 1;
    }
    puts("open");
    fflush(stdout);
    getchar();
    CloseHandle(file);
    return 0;
}
