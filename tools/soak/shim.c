/* A preloaded library that disturbs one process at its k-th call that changes the file system below a folder.
 *
 * LD_PRELOAD puts these functions before those of the C library, so that they also see the writes of Arrow, SQLite and other code
 * below Python. adversary_arm() chooses the folder, the fault and the call; until then every call passes. With a mark, the call is counted
 * from the first rename to a file of that name. The page behind `shared` belongs to the parent too: it reads the number of calls there,
 * and the call that the fault struck.
 *
 * A power cut is simulated by what is kept of every fsync below the folder: adversary_keep() names a folder that gets the content of each
 * synced file, INODE.data, and the names of each synced directory, INODE.names. Python (power.py) writes there what was on the disk
 * before, kills the process with KILL_BEFORE, and then undoes whatever was not synced. It is the disk that POSIX promises: fsync of a file
 * brings its content, not its name; fsync of a directory brings its names, not the content of the files. A kept file or directory stays open, so
 * that its number is not given to another one. What reaches a disk by other ways (O_SYNC, msync, sync) counts as not synced.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum fault { NONE, KILL_BEFORE, KILL_AFTER, KILL_HALF, FULL, READ_ONLY, TERMINATE, STOP };

struct shared {
    long calls;
    long struck;
    char name[24];
    char path[PATH_MAX];
};

static volatile struct shared *page;
static char folder[PATH_MAX];
static size_t folder_length;
static int fault;
static long strike_at;
static char mark[64];
static long marked = -1;
static char kept[PATH_MAX];

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

void adversary_arm(const char *below, int kind, long at, const char *after, void *shared) {
    strncpy(folder, below, sizeof folder - 1);
    folder_length = strlen(folder);
    strncpy(mark, after, sizeof mark - 1);
    fault = kind;
    strike_at = at;
    page = shared;
}

void adversary_keep(const char *where) { strncpy(kept, where, sizeof kept - 1); }

/* ---------------------------------------------------------------- places */
static int is_below(const char *path) {
    return !strncmp(path, folder, folder_length) && (path[folder_length] == '/' || !path[folder_length]);
}

static int path_of(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return 1;
}

/* The absolute path of a name relative to a directory; links and ".." in it stay as they are. */
static int absolute(int directory, const char *name, char *path) {
    if (name[0] == '/') {
        strncpy(path, name, PATH_MAX - 1);
        path[PATH_MAX - 1] = 0;
        return 1;
    }
    if (directory == AT_FDCWD ? !getcwd(path, PATH_MAX) : !path_of(directory, path)) return 0;
    size_t length = strlen(path);
    snprintf(path + length, PATH_MAX - length, "/%s", name);
    return 1;
}

/* ---------------------------------------------------------------- faults */
/* What a wrapper does next: call through, call through and die, write half and die, or fail. */
enum next { PASS, DIE_AFTER, HALF, REFUSED };

static int refusal(void) { return fault == FULL ? ENOSPC : EROFS; }

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* The number of a call from the mark on; before it a negative one. */
static long since_mark(long number, const char *name, const char *path) {
    if (!mark[0]) return number;
    const char *last = strrchr(path, '/');
    if (marked < 0 && !strcmp(name, "rename") && last && !strcmp(last + 1, mark)) marked = number;
    return marked < 0 ? -1 : number - marked;
}

static enum next count(const char *name, const char *path, int needs_space) {
    if (!page || !is_below(path)) return PASS;
    int saved = errno;
    long number = since_mark(__atomic_fetch_add(&page->calls, 1, __ATOMIC_SEQ_CST), name, path);
    enum next next = PASS;
    int refuses = fault == FULL || fault == READ_ONLY;
    int refused = refuses && number >= strike_at && (needs_space || fault == READ_ONLY);
    if (refuses ? refused : fault != NONE && number == strike_at) {
        if (!page->struck) {
            page->struck = 1;
            strncpy((char *)page->name, name, sizeof page->name - 1);
            strncpy((char *)page->path, path, PATH_MAX - 1);
        }
        switch (fault) {
        case KILL_BEFORE: die(); break;
        case KILL_AFTER: next = DIE_AFTER; break;
        case KILL_HALF: next = HALF; break;
        case FULL:
        case READ_ONLY: next = REFUSED; break;
        case TERMINATE: kill(getpid(), SIGTERM); break;
        case STOP: kill(getpid(), SIGSTOP); break;
        default: break;
        }
    }
    errno = saved;
    return next;
}

static enum next count_name(const char *function, int directory, const char *name, int needs_space) {
    char path[PATH_MAX];
    if (!page || !name || !absolute(directory, name, path)) return PASS;
    return count(function, path, needs_space);
}

static enum next count_descriptor(const char *function, int descriptor, int needs_space) {
    char path[PATH_MAX];
    if (!page || !path_of(descriptor, path)) return PASS;
    return count(function, path, needs_space);
}

/* HALF of a call that cannot be halved is the same as before it. */
#define RUN(chosen, call) \
    do { \
        enum next what = (chosen); \
        if (what == REFUSED) { errno = refusal(); return -1; } \
        if (what == HALF) die(); \
        __typeof__(call) result = (call); \
        if (what == DIE_AFTER) die(); \
        return result; \
    } while (0)

/* ---------------------------------------------------------------- what is on the disk */
/* Files are opened by the system call itself: the functions of this library would count it. */
static int open_uncounted(const char *path, int flags) {
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
    if (descriptor < 0) {
        dprintf(2, "shim.c: what a power cut leaves is not kept: %s: %s\n", path, strerror(errno));
        abort();
    }
    return descriptor;
}

static void keep_content(int from, int to) {
    char block[65536];
    long size;
    while ((size = syscall(SYS_read, from, block, sizeof block)) > 0)
        if (syscall(SYS_write, to, block, size) != size) abort();
    if (size < 0) abort();
}

static void keep_names(DIR *directory, int to) {
    const struct dirent *entry;
    while ((entry = readdir(directory))) {
        struct stat status;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW)) continue;
        char kind = S_ISDIR(status.st_mode) ? 'd' : S_ISREG(status.st_mode) ? 'f' : 'o';
        dprintf(to, "%c %llu %s%c", kind, (unsigned long long)status.st_ino, entry->d_name, 0);
        /* Never closed: an open file keeps its number. */
        syscall(SYS_openat, dirfd(directory), entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    }
}

/* Keeps a file or directory that was brought to the disk. */
static void keep(int descriptor) {
    char path[PATH_MAX], link[64], name[PATH_MAX + 32];
    struct stat status;
    if (!kept[0] || !page || !path_of(descriptor, path) || !is_below(path) || fstat(descriptor, &status)) return;
    int saved = errno;
    int is_directory = S_ISDIR(status.st_mode);
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    snprintf(name, sizeof name, "%s/%llu.%s", kept, (unsigned long long)status.st_ino, is_directory ? "names" : "data");
    int to = open_uncounted(name, O_WRONLY | O_CREAT | O_TRUNC);
    if (is_directory) {
        DIR *directory = opendir(link);
        if (!directory) abort();
        keep_names(directory, to);
        closedir(directory);
    } else {
        int from = open_uncounted(link, O_RDONLY);
        keep_content(from, to);
        close(from);
    }
    close(to);
    fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    errno = saved;
}

/* ---------------------------------------------------------------- opening */
static int changes(int flags) { return (flags & (O_CREAT | O_TRUNC)) || (flags & O_ACCMODE) != O_RDONLY; }

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | __O_TMPFILE)) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode = va_arg(arguments, mode_t); \
        va_end(arguments); \
    }

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, name, const char *, int, ...); \
        MODE(flags) \
        if (!changes(flags)) return real(path, flags, mode); \
        RUN(count_name("open", AT_FDCWD, path, flags & O_CREAT), real(path, flags, mode)); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int directory, const char *path, int flags, ...) { \
        REAL(int, name, int, const char *, int, ...); \
        MODE(flags) \
        if (!changes(flags)) return real(directory, path, flags, mode); \
        RUN(count_name("open", directory, path, flags & O_CREAT), real(directory, path, flags, mode)); \
    }
OPENAT(openat)
OPENAT(openat64)

#define CREAT(name) \
    int name(const char *path, mode_t mode) { \
        REAL(int, name, const char *, mode_t); \
        RUN(count_name("open", AT_FDCWD, path, 1), real(path, mode)); \
    }
CREAT(creat)
CREAT(creat64)

#define FOPEN(name) \
    FILE *name(const char *path, const char *mode) { \
        REAL(FILE *, name, const char *, const char *); \
        enum next next = strpbrk(mode, "wa+") ? count_name("open", AT_FDCWD, path, 1) : PASS; \
        if (next == REFUSED) { errno = refusal(); return NULL; } \
        if (next == HALF) die(); \
        FILE *file = real(path, mode); \
        if (next == DIE_AFTER) die(); \
        return file; \
    }
FOPEN(fopen)
FOPEN(fopen64)

/* ---------------------------------------------------------------- writing */
#define WRITE(name, half, parameters, types, ...) \
    ssize_t name parameters { \
        REAL(ssize_t, name, types); \
        enum next next = count_descriptor("write", descriptor, 1); \
        if (next == HALF) { half; die(); } \
        if (next == REFUSED) { errno = refusal(); return -1; } \
        ssize_t written = real(__VA_ARGS__); \
        if (next == DIE_AFTER) die(); \
        return written; \
    }
#define TYPES(...) __VA_ARGS__
WRITE(write, real(descriptor, data, size / 2), (int descriptor, const void *data, size_t size),
      TYPES(int, const void *, size_t), descriptor, data, size)
WRITE(pwrite, real(descriptor, data, size / 2, at), (int descriptor, const void *data, size_t size, off_t at),
      TYPES(int, const void *, size_t, off_t), descriptor, data, size, at)
WRITE(pwrite64, real(descriptor, data, size / 2, at), (int descriptor, const void *data, size_t size, off64_t at),
      TYPES(int, const void *, size_t, off64_t), descriptor, data, size, at)
WRITE(writev, real(descriptor, parts, number / 2), (int descriptor, const struct iovec *parts, int number),
      TYPES(int, const struct iovec *, int), descriptor, parts, number)
WRITE(sendfile64, real(descriptor, from, at, size / 2), (int descriptor, int from, off64_t *at, size_t size),
      TYPES(int, int, off64_t *, size_t), descriptor, from, at, size)
WRITE(sendfile, real(descriptor, from, at, size / 2), (int descriptor, int from, off_t *at, size_t size),
      TYPES(int, int, off_t *, size_t), descriptor, from, at, size)

ssize_t copy_file_range(int from, off64_t *from_at, int descriptor, off64_t *at, size_t size, unsigned flags) {
    REAL(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned);
    RUN(count_descriptor("write", descriptor, 1), real(from, from_at, descriptor, at, size, flags));
}

#define RESIZE(name, type) \
    int name(int descriptor, type size) { \
        REAL(int, name, int, type); \
        RUN(count_descriptor("ftruncate", descriptor, 0), real(descriptor, size)); \
    }
RESIZE(ftruncate, off_t)
RESIZE(ftruncate64, off64_t)

#define TRUNCATE(name, type) \
    int name(const char *path, type size) { \
        REAL(int, name, const char *, type); \
        RUN(count_name("truncate", AT_FDCWD, path, 0), real(path, size)); \
    }
TRUNCATE(truncate, off_t)
TRUNCATE(truncate64, off64_t)

#define SYNC(name) \
    int name(int descriptor) { \
        REAL(int, name, int); \
        enum next next = count_descriptor("fsync", descriptor, 1); \
        if (next == REFUSED) { errno = refusal(); return -1; } \
        if (next == HALF) die(); \
        int result = kept[0] ? 0 : real(descriptor); /* a simulated disk needs no real one */ \
        if (!result) keep(descriptor); \
        if (next == DIE_AFTER) die(); \
        return result; \
    }
SYNC(fsync)
SYNC(fdatasync)

/* ---------------------------------------------------------------- names */
int mkdir(const char *path, mode_t mode) {
    REAL(int, mkdir, const char *, mode_t);
    RUN(count_name("mkdir", AT_FDCWD, path, 1), real(path, mode));
}
int mkdirat(int directory, const char *path, mode_t mode) {
    REAL(int, mkdirat, int, const char *, mode_t);
    RUN(count_name("mkdir", directory, path, 1), real(directory, path, mode));
}
int unlink(const char *path) {
    REAL(int, unlink, const char *);
    RUN(count_name("unlink", AT_FDCWD, path, 0), real(path));
}
int remove(const char *path) {
    REAL(int, remove, const char *);
    RUN(count_name("unlink", AT_FDCWD, path, 0), real(path));
}
int unlinkat(int directory, const char *path, int flags) {
    REAL(int, unlinkat, int, const char *, int);
    RUN(count_name(flags & AT_REMOVEDIR ? "rmdir" : "unlink", directory, path, 0), real(directory, path, flags));
}
int rmdir(const char *path) {
    REAL(int, rmdir, const char *);
    RUN(count_name("rmdir", AT_FDCWD, path, 0), real(path));
}
/* A rename is counted by its target; by its source when only that one is below the folder. */
static enum next count_rename(const char *name, int from, const char *old, int to, const char *new) {
    char path[PATH_MAX];
    if (page && absolute(to, new, path) && is_below(path)) return count(name, path, 0);
    return count_name(name, from, old, 0);
}
int rename(const char *old, const char *new) {
    REAL(int, rename, const char *, const char *);
    RUN(count_rename("rename", AT_FDCWD, old, AT_FDCWD, new), real(old, new));
}
int renameat(int from, const char *old, int to, const char *new) {
    REAL(int, renameat, int, const char *, int, const char *);
    RUN(count_rename("rename", from, old, to, new), real(from, old, to, new));
}
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    REAL(int, renameat2, int, const char *, int, const char *, unsigned);
    RUN(count_rename("rename", from, old, to, new), real(from, old, to, new, flags));
}
int link(const char *old, const char *new) {
    REAL(int, link, const char *, const char *);
    RUN(count_name("link", AT_FDCWD, new, 1), real(old, new));
}
int linkat(int from, const char *old, int to, const char *new, int flags) {
    REAL(int, linkat, int, const char *, int, const char *, int);
    RUN(count_name("link", to, new, 1), real(from, old, to, new, flags));
}
int symlink(const char *target, const char *new) {
    REAL(int, symlink, const char *, const char *);
    RUN(count_name("symlink", AT_FDCWD, new, 1), real(target, new));
}
int symlinkat(const char *target, int to, const char *new) {
    REAL(int, symlinkat, const char *, int, const char *);
    RUN(count_name("symlink", to, new, 1), real(target, to, new));
}
