/* A disk that fails, for one process: loaded before the C library, it lets the Nth write below a folder fail.
 *
 * FAULT_FOLDER  the folder whose files are meant, as its path is written in calls
 * FAULT_AT      which write fails: 1 is the first; all after it fail as well, as on a full disk
 * FAULT_ERRNO   with which error: 28 is ENOSPC, 5 is EIO, 13 is EACCES
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long writes;

static int is_meant(const char *path)
{
    const char *folder = getenv("FAULT_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_meant_descriptor(int descriptor)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return is_meant(path);
}

/* Counts a write that is meant; says whether it fails, and with errno set. */
static int fails(int meant)
{
    const char *at = getenv("FAULT_AT"), *error = getenv("FAULT_ERRNO");
    if (!meant)
        return 0;
    writes++;
    if (!at || writes < atol(at))
        return 0;
    errno = error ? atoi(error) : ENOSPC;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void *data, size_t size)
{
    return fails(is_meant_descriptor(descriptor)) ? -1 : REAL(write)(descriptor, data, size);
}

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset)
{
    return fails(is_meant_descriptor(descriptor)) ? -1 : REAL(pwrite)(descriptor, data, size, offset);
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t offset)
{
    return fails(is_meant_descriptor(descriptor)) ? -1 : REAL(pwrite64)(descriptor, data, size, offset);
}

int fsync(int descriptor)
{
    return fails(is_meant_descriptor(descriptor)) ? -1 : REAL(fsync)(descriptor);
}

int fdatasync(int descriptor)
{
    return fails(is_meant_descriptor(descriptor)) ? -1 : REAL(fdatasync)(descriptor);
}

int ftruncate64(int descriptor, off64_t size)
{
    return fails(is_meant_descriptor(descriptor)) ? -1 : REAL(ftruncate64)(descriptor, size);
}

int rename(const char *from, const char *to)
{
    return fails(is_meant(to)) ? -1 : REAL(rename)(from, to);
}

int open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails(flags & O_CREAT && is_meant(path)) ? -1 : REAL(open64)(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails(flags & O_CREAT && is_meant(path)) ? -1 : REAL(open)(path, flags, mode);
}
