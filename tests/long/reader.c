/* The harness of tests.long.libfuzzer: calls a reader of tests/readers.py for each input. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

static PyObject* reader;

static void require(int condition) {
    if (!condition) {
        PyErr_Print();
        abort();
    }
}

/* QUARTET_PYTHON is the path of Python in its environment, QUARTET_READER the name of a reader. */
int LLVMFuzzerInitialize(int* argc, char*** argv) {
    PyConfig config;
    PyObject *module, *targets, *target;
    (void)argc;
    (void)argv;
    PyConfig_InitPythonConfig(&config);
    config.install_signal_handlers = 0;
    PyConfig_SetBytesString(&config, &config.program_name, getenv("QUARTET_PYTHON"));
    require(!PyStatus_Exception(Py_InitializeFromConfig(&config)));
    PyConfig_Clear(&config);
    require((module = PyImport_ImportModule("tests.readers")) != NULL);
    require((targets = PyObject_GetAttrString(module, "TARGETS")) != NULL);
    require((target = PyMapping_GetItemString(targets, getenv("QUARTET_READER"))) != NULL);
    require((reader = PyObject_GetAttrString(target, "read")) != NULL);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    PyObject* result = PyObject_CallFunction(reader, "y#", (const char*)data, (Py_ssize_t)size);
    require(result != NULL);
    Py_DECREF(result);
    return 0;
}
