/* SPDX-License-Identifier: MIT */
/* test_output.c - writing results: what appears, when, with which mode; what is never replaced; and
 * that a signal leaves nothing behind. Each test counts the files of its folder.
 */
#include "files/file_io.h"
#include "tests/unit/file_bytes.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

static char folder[64];

static int enter_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/qkv-output-XXXXXX");
    umask(022);
    return !mkdtemp(folder) || chdir(folder) != 0;
}

static int files_here(void)
{
    DIR *const d = opendir(".");
    int n = 0;
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    }
    closedir(d);
    return n;
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir("/") != 0 || rmdir(folder) != 0;
}

static void put(const char *name, const char *text)
{
    FILE *const f = fopen(name, "wb");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void holds(const char *name, const char *text)
{
    char got[64] = "";
    FILE *const f = fopen(name, "rb");
    assert_non_null(f);
    const size_t n = fread(got, 1, sizeof got - 1, f);
    got[n] = 0;
    fclose(f);
    assert_string_equal(got, text);
}

static mode_t mode_of(const char *name)
{
    struct stat st;
    assert_int_equal(lstat(name, &st), 0);
    return st.st_mode;
}

static files_output *create(const char *path, int flags)
{
    files_output *out = NULL;
    files_error err;
    if (files_create(&out, path, flags, &err) != 0) fail_msg("%s", err.text);
    return out;
}

static void write_text(files_output *out, const char *text)
{
    files_error err;
    if (files_write(out, text, strlen(text), &err) != 0) fail_msg("%s", err.text);
}

static void commit(files_output *a, files_output *b)
{
    files_output *both[2] = {a, b};
    files_error err;
    if (files_commit(both, 2, &err) != 0) fail_msg("%s", err.text);
}

static void refused(const char *path, int flags, const char *sentence)
{
    files_output *out = NULL;
    files_error err;
    const int before = files_here();
    assert_int_equal(files_create(&out, path, flags, &err), 2);
    assert_null(out);
    assert_string_equal(err.text, sentence);
    assert_int_equal(files_here(), before);
}

static void test_new_and_old(void **state)
{
    (void)state;
    files_output *out = create("new", 0);
    write_text(out, "one");
    assert_int_equal(access("new", F_OK), -1); /* not before commit */
    assert_int_equal(files_here(), 1);         /* its temporary */
    commit(out, NULL);
    holds("new", "one");
    assert_int_equal(mode_of("new"), S_IFREG | 0644);

    chmod("new", 0640);
    out = create("new", 0);
    write_text(out, "two");
    holds("new", "one");
    commit(out, NULL);
    holds("new", "two");
    assert_int_equal(mode_of("new"), S_IFREG | 0640);

    out = create("new", 0);
    write_text(out, "three");
    files_discard(out);
    holds("new", "two");
    assert_int_equal(files_here(), 1);
    unlink("new");
}

static void test_two_outputs(void **state)
{
    (void)state;
    mkdir("sub", 0755);
    files_output *const a = create("a", 0), *const b = create("sub/b", 0);
    write_text(a, "A");
    write_text(b, "B");
    commit(a, b);
    holds("a", "A");
    holds("sub/b", "B");
    unlink("a");
    unlink("sub/b");
    rmdir("sub");
    assert_int_equal(files_here(), 0);
}

/* The second cannot be synced: the first must not have its name yet. */
static void test_all_synced_before_the_first_name(void **state)
{
    (void)state;
    files_output *both[2] = {create("a", 0), create("b", 0)};
    files_error err;
    write_text(both[0], "A");
    for (int fd = 3; fd < 64; fd++) { /* b's descriptor is the last one that is writable */
        const int flags = fcntl(fd, F_GETFL);
        if (flags < 0 || (flags & O_ACCMODE) != O_WRONLY) continue;
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0) {
            const int broken = open("/dev/null", O_RDONLY); /* fsync: EINVAL */
            dup2(broken, fd);
            close(broken);
        }
    }
    assert_int_equal(files_commit(both, 2, &err), 1);
    assert_int_equal(files_here(), 0);
}

static void test_symlinks(void **state)
{
    (void)state;
    put("real", "old");
    assert_int_equal(symlink("real", "link"), 0);
    assert_int_equal(symlink("link", "link2"), 0);
    files_output *out = create("link2", 0);
    write_text(out, "new");
    commit(out, NULL);
    assert_true(S_ISLNK(mode_of("link")) && S_ISLNK(mode_of("link2")));
    holds("real", "new");
    unlink("real"); /* now it dangles: what it names is made */
    out = create("link", 0);
    write_text(out, "again");
    commit(out, NULL);
    assert_true(S_ISLNK(mode_of("link")));
    holds("real", "again");
    unlink("link");
    unlink("link2");
    unlink("real");
    assert_int_equal(symlink("round", "round"), 0);
    refused("round", 0, "round cannot be written: Too many levels of symbolic links");
    unlink("round");
}

static void test_refused(void **state)
{
    (void)state;
    mkdir("sub", 0755);
    put("old", "1234");
    refused("sub", 0, "sub is a directory; a file was expected");
    refused("sub/", 0, "sub/ is a directory; a file was expected");
    refused("sub/.", 0, "sub/. is a directory; a file was expected");
    refused("none/", 0, "none/ names a directory; a file was expected");
    refused("none/x", 0, "none/x cannot be written: its folder 'none': No such file or directory");
    refused("old/x", 0, "old/x cannot be written: its folder 'old': Not a directory");
    refused("old", FILES_NO_CLOBBER, "old exists (4 bytes); --no-clobber keeps it");
    refused("", 0, "(empty name) cannot be written: No such file or directory");
    const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    refused("socket", 0, "socket is a block device or socket; a file was expected");
    close(fd);
    unlink("socket");
    char path[400] = "sub/";
    memset(path + 4, 'x', 300);
    path[304] = 0;
    files_output *out = NULL;
    files_error err;
    assert_int_equal(files_create(&out, path, 0, &err), 2);
    assert_non_null(strstr(err.text, "File name too long"));
    holds("old", "1234");
    unlink("old");
    rmdir("sub");
}

static void test_no_clobber_race(void **state)
{
    (void)state;
    files_output *out[1] = {create("x", FILES_NO_CLOBBER)};
    files_error err;
    write_text(out[0], "late");
    put("x", "early");
    assert_int_equal(files_commit(out, 1, &err), 2);
    assert_string_equal(err.text, "x exists by now; --no-clobber keeps it");
    holds("x", "early");
    assert_int_equal(files_here(), 1);
    unlink("x");
    out[0] = create("x", FILES_NO_CLOBBER);
    write_text(out[0], "alone");
    commit(out[0], NULL);
    holds("x", "alone");
    assert_int_equal(files_here(), 1);
    unlink("x");
}

static void test_devices_and_pipes(void **state)
{
    (void)state;
    files_error err;
    files_output *out = create("/dev/full", 0);
    assert_int_equal(files_write(out, "abc", 3, &err), 1);
    assert_string_equal(
        err.text,
        "/dev/full cannot be written: No space left on device after 0 bytes, 3 were left");
    files_discard(out);
    assert_true(S_ISCHR(mode_of("/dev/full")));
    out = create("/dev/null", FILES_NO_CLOBBER);
    write_text(out, "abc");
    commit(out, NULL);
    assert_true(S_ISCHR(mode_of("/dev/null")));

    assert_int_equal(mkfifo("fifo", 0600), 0);
    const int fd = open("fifo", O_RDONLY | O_NONBLOCK);
    char got[8] = "";
    out = create("fifo", 0);
    write_text(out, "abc");
    commit(out, NULL);
    assert_int_equal(read(fd, got, sizeof got), 3);
    assert_string_equal(got, "abc");
    close(fd);
    assert_true(S_ISFIFO(mode_of("fifo")));
    unlink("fifo");
}

static void test_apart(void **state)
{
    (void)state;
    unsigned char head[256];
    const int64_t dim[1] = {0};
    files_error err;
    files_output *out = create("in.npy", 0);
    assert_int_equal(files_write_npy(out, NPY_F4, 1, dim, head, &err), 0);
    commit(out, NULL);
    assert_int_equal(link("in.npy", "hard"), 0);
    assert_int_equal(symlink("in.npy", "soft"), 0);
    files_input *in;
    assert_int_equal(files_open(&in, "in.npy", &err), 0);
    static const char *const same[] = {"in.npy", "hard", "soft", "./in.npy"};
    for (size_t i = 0; i < 4; i++) {
        out = create(same[i], 0);
        assert_int_equal(files_apart_input(out, "-o", in, "--q", &err), 2);
        files_discard(out);
    }
    assert_string_equal(
        err.text, "-o ./in.npy is the same file as --q in.npy; an output must be another file");
    out = create("other", 0);
    assert_int_equal(files_apart_input(out, "-o", in, "--q", &err), 0);
    char path[128];
    snprintf(path, sizeof path, "%s/other", folder);
    const char *const twin[] = {"other", "./other", path};
    for (size_t i = 0; i < 3; i++) { /* none of them exists yet */
        files_output *const b = create(twin[i], 0);
        assert_int_equal(files_apart_output(out, "-o", b, "--lse", &err), 2);
        files_discard(b);
    }
    files_output *const b = create("another", 0), *const hard = create("hard", 0),
                        *const soft = create("soft", 0);
    assert_int_equal(files_apart_output(out, "-o", b, "--lse", &err), 0);
    assert_int_equal(files_apart_output(hard, "-o", soft, "--lse", &err), 2);
    files_output *const n1 = create("/dev/null", 0), *const n2 = create("/dev/null", 0);
    assert_int_equal(files_apart_output(n1, "-o", n2, "--lse", &err), 0);
    files_output *const all[] = {out, b, hard, soft, n1, n2};
    for (size_t i = 0; i < 6; i++) files_discard(all[i]);
    files_close(in);
    unlink("in.npy");
    unlink("hard");
    unlink("soft");
    assert_int_equal(files_here(), 0);
}

static void test_write_npy(void **state)
{
    (void)state;
    const int64_t dim[3] = {2, 1, 3};
    const float data[6] = {1, 2, 3, 4, 5, 6};
    files_error err;
    files_output *const out = create("x.npy", 0);
    assert_int_equal(files_write_npy(out, NPY_F4, 3, dim, data, &err), 0);
    commit(out, NULL);
    files_input *in;
    files_tensor t;
    assert_int_equal(files_open(&in, "x.npy", &err), 0);
    const npy_header *const h = files_header(in);
    assert_int_equal(h->data_offset, 128);
    assert_int_equal(h->big_endian, 0);
    const files_slice all = files_slice_all(in);
    assert_int_equal(files_read(in, &all, &t, &err), 0);
    assert_int_equal(t.rank, 3);
    assert_memory_equal(t.data, data, sizeof data);
    files_tensor_free(&t);
    files_close(in);
    unlink("x.npy");
}

static void line(char *out, size_t size, const char *sentence)
{
    snprintf(out, size, "%s\n", sentence);
}

/* A child with an unfinished output gets the signal; its wait status. */
static int stopped_by(int number, int ignored)
{
    const pid_t child = fork();
    if (child == 0) {
        files_output *out;
        files_error err;
        signal(number, ignored ? SIG_IGN : SIG_DFL);
        files_signals(line);
        if (files_create(&out, "half", 0, &err) != 0) _exit(98);
        if (files_write(out, "half", 4, &err) != 0) _exit(97);
        raise(number);
        files_discard(out);
        _exit(77);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

static void test_signals(void **state)
{
    (void)state;
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < 3; i++) {
        int status = stopped_by(stops[i], 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 128 + stops[i]);
        assert_int_equal(files_here(), 0);
        status = stopped_by(stops[i], 1); /* nohup, or a job in the background */
        assert_int_equal(WEXITSTATUS(status), 77);
    }
    const int status = stopped_by(SIGPIPE, 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGPIPE);
    assert_int_equal(files_here(), 0);
}

static void test_standard_output(void **state)
{
    (void)state;
    files_output *out = NULL;
    files_error err;
    fflush(stdout);
    const int keep = dup(STDOUT_FILENO);
    int fd[2];
    char got[8] = "";
    assert_int_equal(pipe(fd), 0);
    dup2(fd[1], STDOUT_FILENO);
    close(fd[1]);
    const int made = files_create(&out, "-", 0, &err);
    const int written = made == 0 ? files_write(out, "abc", 3, &err) : -1;
    files_output *twin = NULL;
    const int second = files_create(&twin, "-", 0, &err);
    const int apart = second == 0 ? files_apart_output(out, "-o", twin, "--lse", &err) : -1;
    files_discard(twin);
    const int done = written == 0 ? files_commit(&out, 1, &err) : -1;

    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    int terminal = -1;
    files_error terminal_err = {0, ""};
    if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0) {
        const int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
        dup2(slave, STDOUT_FILENO);
        close(slave);
        terminal = files_create(&out, "-", 0, &terminal_err);
    }
    dup2(keep, STDOUT_FILENO);
    close(keep);
    assert_int_equal(made, 0);
    assert_int_equal(second, 0);
    assert_int_equal(apart, 2);
    assert_int_equal(done, 0);
    assert_int_equal(read(fd[0], got, sizeof got), 3);
    assert_string_equal(got, "abc");
    close(fd[0]);
    assert_int_equal(terminal, 2);
    assert_string_equal(
        terminal_err.text,
        "standard output is a terminal; a .npy file is binary and needs a file or a pipe");
    close(master);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_and_old),
        cmocka_unit_test(test_two_outputs),
        cmocka_unit_test(test_all_synced_before_the_first_name),
        cmocka_unit_test(test_symlinks),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_clobber_race),
        cmocka_unit_test(test_devices_and_pipes),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_write_npy),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_standard_output),
    };
    return cmocka_run_group_tests_name("output", tests, enter_folder, leave_folder);
}
