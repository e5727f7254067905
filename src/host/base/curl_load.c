/* curl_load.c - libcurl, loaded when something is sent and not before. */
#define _GNU_SOURCE

#include "host/base/curl_load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* 7.85.0, the first with CURLOPT_PROTOCOLS_STR. */
#define CURL_LEAST 0x075500u

static struct curl_functions curl_table;
static bool curl_there;
static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

/* Debian's two, by the name of what is in them. */
static void *curl_open(void)
{
    void *lib = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);

    return lib != NULL ? lib : dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
}

/* POSIX lets a data pointer be a function's; C has no cast for it. */
static bool curl_find(void *lib, const char *name, void *function)
{
    void *found = dlsym(lib, name);

    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool curl_recent(void *lib)
{
    curl_version_info_data *(*version)(CURLversion age);

    return curl_find(lib, "curl_version_info", &version) &&
           version(CURLVERSION_NOW)->version_num >= CURL_LEAST;
}

static void curl_fill(void)
{
    struct curl_functions *t = &curl_table;
    const struct {
        const char *name;
        void *function;
    } rows[] = {
        {"curl_easy_init", &t->easy_init},
        {"curl_easy_setopt", &t->easy_setopt},
        {"curl_easy_perform", &t->easy_perform},
        {"curl_easy_getinfo", &t->easy_getinfo},
        {"curl_easy_cleanup", &t->easy_cleanup},
        {"curl_slist_append", &t->slist_append},
        {"curl_slist_free_all", &t->slist_free_all},
        {"curl_multi_init", &t->multi_init},
        {"curl_multi_setopt", &t->multi_setopt},
        {"curl_multi_add_handle", &t->multi_add_handle},
        {"curl_multi_remove_handle", &t->multi_remove_handle},
        {"curl_multi_perform", &t->multi_perform},
        {"curl_multi_poll", &t->multi_poll},
        {"curl_multi_info_read", &t->multi_info_read},
        {"curl_multi_cleanup", &t->multi_cleanup},
    };
    void *lib = curl_open();

    curl_there = lib != NULL && curl_recent(lib);
    for (size_t i = 0; curl_there && i < sizeof rows / sizeof rows[0]; i++)
        curl_there = curl_find(lib, rows[i].name, rows[i].function);
}

const struct curl_functions *hsy_curl_load(void)
{
    if (pthread_once(&curl_once, curl_fill) != 0 || !curl_there)
        return NULL;
    return &curl_table;
}
