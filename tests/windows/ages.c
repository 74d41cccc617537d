/* Prints its own age and that of the outer process, in seconds. With an argument it first sleeps,
   then starts that program, which prints them. */
#include "core/native/clock.h"

#include <process.h>
#include <stdio.h>

int main(int count, char **arguments) {
    if (count > 1) {
        Sleep(1500);
        return (int)_spawnl(_P_WAIT, arguments[1], arguments[1], NULL);
    }
    printf("%f %f\n", clock_process_age(), clock_outer_age());
    return 0;
}
