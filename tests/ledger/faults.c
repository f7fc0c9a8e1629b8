/* Faults of the system, for tests: the nth call of a kind on a file below a directory fails, once or from then on.
   Loaded with LD_PRELOAD; the process itself says which fault comes next, by fault_set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum kind { READ = 1, WRITE, SYNC, LOCK, TRUNCATE, OPEN };

static char directory[PATH_MAX];
static int wanted, countdown, number, lasting, hits;

void fault_set(const char *below, int kind, int nth, int error, int from_then_on) {
    strncpy(directory, below, sizeof directory - 1);
    wanted = kind; countdown = nth; number = error; lasting = from_then_on; hits = 0;
}

int fault_clear(void) { wanted = 0; return hits; }

static int fails_at(int kind, const char *path) {
    if (kind != wanted || strncmp(path, directory, strlen(directory)) != 0) return 0;
    if (--countdown > 0 || (countdown < 0 && !lasting)) return 0;
    hits++;
    errno = number;
    return 1;
}

static int fails(int kind, int file) {
    char link[64], path[PATH_MAX];
    if (kind != wanted) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return fails_at(kind, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pread(int f, void *b, size_t n, off_t o) { return fails(READ, f) ? -1 : REAL(pread)(f, b, n, o); }
ssize_t pread64(int f, void *b, size_t n, off64_t o) { return fails(READ, f) ? -1 : REAL(pread64)(f, b, n, o); }
ssize_t read(int f, void *b, size_t n) { return fails(READ, f) ? -1 : REAL(read)(f, b, n); }
ssize_t pwrite(int f, const void *b, size_t n, off_t o) { return fails(WRITE, f) ? -1 : REAL(pwrite)(f, b, n, o); }
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) { return fails(WRITE, f) ? -1 : REAL(pwrite64)(f, b, n, o); }
ssize_t write(int f, const void *b, size_t n) { return fails(WRITE, f) ? -1 : REAL(write)(f, b, n); }
int fsync(int f) { return fails(SYNC, f) ? -1 : REAL(fsync)(f); }
int fdatasync(int f) { return fails(SYNC, f) ? -1 : REAL(fdatasync)(f); }
int flock(int f, int operation) { return fails(LOCK, f) ? -1 : REAL(flock)(f, operation); }
int ftruncate(int f, off_t n) { return fails(TRUNCATE, f) ? -1 : REAL(ftruncate)(f, n); }
int ftruncate64(int f, off64_t n) { return fails(TRUNCATE, f) ? -1 : REAL(ftruncate64)(f, n); }

static int is_lock(int command) { return command == F_SETLK || command == F_SETLKW || command == F_GETLK; }

int fcntl(int f, int command, ...) {
    va_list rest; va_start(rest, command); void *argument = va_arg(rest, void *); va_end(rest);
    return is_lock(command) && fails(LOCK, f) ? -1 : REAL(fcntl)(f, command, argument);
}

int fcntl64(int f, int command, ...) {
    va_list rest; va_start(rest, command); void *argument = va_arg(rest, void *); va_end(rest);
    return is_lock(command) && fails(LOCK, f) ? -1 : REAL(fcntl64)(f, command, argument);
}

int open(const char *path, int flags, ...) {
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest);
    return fails_at(OPEN, path) ? -1 : REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest);
    return fails_at(OPEN, path) ? -1 : REAL(open64)(path, flags, mode);
}
